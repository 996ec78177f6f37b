import AppMigrations
import AppMigrationsFleet
import Testing

@Suite struct LeaseWaitTests {
    let fleet = Fleet()

    @Test func `a bounded wait ends with the name of the holder`() async throws {
        try await fleet.leaveLease()
        let waiting = try await fleet.host("b") { $0.lockTimeout = .seconds(5) }
        let error = try #require(
            await fleet.error { try await waiting.whenMigrating(toVersion: "1.1") {} }
        )
        #expect(error.code == .lockTimeout)
        #expect(error.description.contains(#"Manager "Data" waited 5.0 seconds for a, process "#))
        #expect(await code { try await waiting.whenMigrating(toVersion: "1.2") {} } == .blocked)
    }

    @Test func `a wait ends when its task is cancelled`() async throws {
        try await fleet.leaveLease()
        let host = try await fleet.host("b")
        for call in [
            { try await host.untilMigrated { try await $0.whenMigrating(toVersion: "1.1") {} } },
            { try await host.whenMigrating(toVersion: "1.1") {} },
        ] as [@Sendable () async throws -> Void] {
            let task = Task { await code { try await call() } }
            await fleet.clock.sleepers(1)
            task.cancel()
            #expect(await task.value == .cancelled)
        }
    }

    @Test func `a task that is cancelled already takes no lease`() async throws {
        let migrations = try await fleet.host()
        let writes = fleet.store.writes
        let door = Door()
        let task = Task {
            await door.pass()
            return await code {
                try await migrations.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") }
            }
        }
        task.cancel()
        door.open()
        #expect(await task.value == .cancelled)
        #expect(fleet.store.writes == writes)
    }

    @Test func `the length that counts is the one that the holder has written`() async throws {
        try await fleet.leaveLease(.seconds(60))
        let impatient = try await fleet.host("b") { $0.leaseDuration = .seconds(2) }
        let task = Task { try await impatient.whenMigrating(toVersion: "1.1") {} }
        let began = fleet.clock.now
        while !fleet.store.documents.contains(where: { $0.contains(#""owner" : "b,"#) }) {
            await fleet.clock.sleepers(1)
            fleet.clock.advance(by: .milliseconds(500))
            for _ in 0..<50 { await Task.yield() }
        }
        #expect(fleet.clock.now - began >= .seconds(60))
        #expect(try await task.value)
    }

    @Test func `a lease is a second long at least`() async throws {
        try await fleet.leaveLease(.zero)
        #expect(try #require(try await fleet.store.text()).contains(#""lease" : 1.0 }"#))
    }

    @Test func `what needs no lease doesn't wait for one`() async throws {
        try await fleet.leaveLease()
        let second = try await fleet.host("b")
        try await fleet.store.edit(#""lastRunVersion" : "0""#, to: #""lastRunVersion" : "1.0.5""#)
        #expect(try await !second.whenMigrating(toVersion: "1.0.1") {})
    }
}

@Suite struct LeaseWatchTests {
    private let lease = Lease("a", fence: 1, length: .seconds(30))

    /// True if the lease has run out after these looks: the revision that each saw, and when it was asked and answered.
    private func hasRunOut(_ looks: [(FleetRevision, asked: Int, answered: Int)]) -> Bool {
        var watch = LeaseWatch()
        var hasRunOut = false
        for look in looks {
            hasRunOut = watch.hasRunOut(
                lease,
                at: look.0,
                asked: .seconds(look.asked),
                answered: .seconds(look.answered)
            )
        }
        return hasRunOut
    }

    private let one = FleetRevision(1)
    private let two = FleetRevision(2)

    @Test func `a lease runs out once one revision was seen for its whole length`() {
        #expect(!hasRunOut([(one, 0, 0)]))
        #expect(!hasRunOut([(one, 0, 0), (one, 29, 29)]))
        #expect(hasRunOut([(one, 0, 0), (one, 30, 30)]))
    }

    @Test func `a renewal in between begins it again`() {
        #expect(!hasRunOut([(one, 0, 0), (two, 29, 29), (two, 58, 58)]))
        #expect(hasRunOut([(one, 0, 0), (two, 29, 29), (two, 59, 59)]))
    }

    @Test func `the time of a slow answer doesn't count, before or after`() {
        #expect(!hasRunOut([(one, 0, 20), (one, 31, 31)]))
        #expect(!hasRunOut([(one, 0, 0), (one, 29, 60)]))
    }

    @Test func `a clock that goes back takes over later, and never earlier`() {
        #expect(!hasRunOut([(one, 100, 100), (one, 0, 0), (one, 60, 60)]))
        #expect(hasRunOut([(one, 100, 100), (one, 0, 0), (one, 130, 130)]))
    }
}
