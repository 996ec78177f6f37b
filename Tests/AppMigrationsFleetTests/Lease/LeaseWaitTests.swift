import AppMigrations
import Testing

@testable import AppMigrationsFleet

@Suite(.timeLimit(.minutes(1)), .watchdog) struct LeaseWaitTests {
    let fleet = Fleet()

    @Test func `a bounded wait ends with the name of the holder`() async throws {
        try await fleet.leaveLease()
        let waiting = try await fleet.host("b") { $0.lockTimeout = .seconds(5) }
        let error = try #require(await fleet.error { try await waiting.whenMigrating(toVersion: "1.1") {} })
        #expect(error.code == .lockTimeout)
        #expect(
            error.description.contains(
                #"The manager "Data" (document "Data" in the fleet's store) waited 5.0 seconds for a, process "#
            )
        )
        #expect(await code { try await waiting.whenMigrating(toVersion: "1.2") {} } == .managerClosed)
    }

    @Test func `a wait ends when its task is cancelled`() async throws {
        try await fleet.leaveLease()
        let host = try await fleet.host("b")
        for call in [
            { try await host.untilMigrated { try await $0.whenMigrating(toVersion: "1.1") {} } },
            { try await host.whenMigrating(toVersion: "1.1") {} },
        ] as [@Sendable () async throws -> Void] {
            let task = Call { await code { try await call() } }
            try await fleet.settle { task.hasEnded }
            task.cancel()
            #expect(try await task.value == .cancelled)
        }
    }

    @Test func `a task that is cancelled already takes no lease`() async throws {
        let migrations = try await fleet.host()
        let writes = fleet.store.writes
        let door = Door()
        let task = Call {
            await door.pass()
            return await code {
                try await migrations.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") }
            }
        }
        task.cancel()
        door.open()
        #expect(try await task.value == .cancelled)
        #expect(fleet.store.writes == writes)
    }

    @Test func `the length that counts is the one that the holder has written`() async throws {
        try await fleet.leaveLease(.seconds(60))
        let impatient = try await fleet.host("b") { $0.leaseDuration = .seconds(2) }
        let task = Call { try await impatient.whenMigrating(toVersion: "1.1") {} }
        let began = fleet.clock.now
        try await fleet.pass { task.hasEnded }
        #expect(fleet.clock.now - began >= .seconds(60))
        #expect(fleet.clock.now - began <= .seconds(62))
        #expect(try await task.value)
    }

    @Test func `a lease is a second long at least`() async throws {
        try await fleet.leaveLease(.zero)
        #expect(try #require(try await fleet.store.text()).contains(#""length" : 1.0 }"#))
    }

    @Test func `what needs no lease doesn't wait for one`() async throws {
        try await fleet.leaveLease()
        let second = try await fleet.host("b")
        try await fleet.store.edit(#""lastRunVersion" : "0""#, to: #""lastRunVersion" : "1.0.5""#)
        #expect(try await !second.whenMigrating(toVersion: "1.0.1") {})
    }
}

@Suite(.timeLimit(.minutes(1)), .watchdog) struct LeaseWatchTests {
    /// True if the lease has run out after these looks: the revision that each saw, and when it was asked and
    /// answered.
    private func hasRunOut(_ looks: [(revision: Int, asked: Int, answered: Int)]) async throws -> Bool {
        let (fleet, turn) = (Fleet(), Log())
        try await fleet.leaveLease()
        let began = fleet.clock.now
        @Sendable func move(to seconds: Int) {
            fleet.clock.advance(by: began + .seconds(seconds) - fleet.clock.now)
        }
        let store = InterposedStore(store: fleet.store) {
            move(to: looks[turn.lines.count].answered)
        } beforeWrite: { _ in
        }
        let manager = try await fleet.host("b") { $0.leaseDuration = .seconds(300) }
        let repository = StateRepository(
            location: manager.location,
            store: store,
            deadline: manager.repository.deadline
        )
        var (revision, isHeld) = (looks[0].revision, true)
        for look in looks {
            // A renewal.
            if look.revision != revision { try await fleet.store.put(fleet.store.text() ?? "") }
            revision = look.revision
            move(to: look.asked)
            isHeld = try await repository.read().isLeaseHeld
            turn.add("looked")
        }
        return !isHeld
    }

    @Test func `a lease runs out once one revision was seen for its whole length`() async throws {
        #expect(try await !hasRunOut([(1, 0, 0)]))
        #expect(try await !hasRunOut([(1, 0, 0), (1, 29, 29)]))
        #expect(try await hasRunOut([(1, 0, 0), (1, 30, 30)]))
    }

    @Test func `a renewal in between begins it again`() async throws {
        #expect(try await !hasRunOut([(1, 0, 0), (2, 29, 29), (2, 58, 58)]))
        #expect(try await hasRunOut([(1, 0, 0), (2, 29, 29), (2, 59, 59)]))
    }

    @Test func `the time of a slow answer doesn't count, before or after`() async throws {
        #expect(try await !hasRunOut([(1, 0, 20), (1, 31, 31)]))
        #expect(try await !hasRunOut([(1, 0, 0), (1, 29, 60)]))
    }

    @Test func `a clock that goes back takes over later, and never earlier`() async throws {
        #expect(try await !hasRunOut([(1, 100, 100), (1, 0, 0), (1, 60, 60)]))
        #expect(try await hasRunOut([(1, 100, 100), (1, 0, 0), (1, 130, 130)]))
    }
}
