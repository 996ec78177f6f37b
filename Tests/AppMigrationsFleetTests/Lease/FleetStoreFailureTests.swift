import AppMigrations
import AppMigrationsFleet
import Testing

/// A store that fails, loses its answers, or says what isn't so.
@Suite(.timeLimit(.minutes(1)), .watchdog) struct FleetStoreFailureTests {
    let fleet = Fleet()

    private static let answers: [TestStore.Answer] = [.worksAndFails, .worksAndRefuses]

    @Test(arguments: answers, ["first run", "intent", "record"])
    func `a write whose answer is lost is found by the next read`(_ answer: TestStore.Answer, _ step: String)
        async throws
    {
        fleet.store.onWrite { number, _ in
            number == ["first run": 1, "intent": 2, "record": 3][step] ? answer : .works
        }
        let migrations = try await fleet.host()
        var count = 0
        #expect(try await migrations.whenMigrating(toVersion: "1.1") { count += 1 })
        #expect(count == 1)
        #expect(try await fleet.host("b").lastRunVersion == AppVersion("1.1"))
        #expect(fleet.store.documents.count == 3)
    }

    @Test(arguments: answers)
    func `a checkpoint whose answer is lost is saved`(_ answer: TestStore.Answer) async throws {
        let migrations = try await fleet.host()
        fleet.store.onWrite { number, _ in number == 3 ? answer : .works }
        try await migrations.whenMigrating(toVersion: "1.1") { try await $0.saveCheckpoint("here") }
        #expect(fleet.store.documents.count { $0.contains("here") } == 1)
    }

    @Test func `an intent that isn't saved runs nothing`() async throws {
        let migrations = try await fleet.host()
        fleet.store.onWrite { _, _ in .fails }
        let error = await #expect(throws: MigrationError.self) {
            try await migrations.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") }
        }
        #expect(error?.code == .stateNotSaved)
        #expect(
            error?.description == """
                The state of manager "Data" (document "Data" in the fleet's store) could not be saved: the network is gone. The store \
                has the old state. Migration 1.1 was not run. Try again when the store can be reached.
                """
        )
        #expect(error?.path == nil)
    }

    @Test func `a claim that arrives after it was reported unsaved is no lease, and no death`() async throws {
        let migrations = try await fleet.host()
        fleet.store.onWrite { number, _ in number == 2 ? .comesLate : .works }
        #expect(
            await code {
                try await migrations.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") }
            } == .stateNotSaved
        )
        #expect(try await fleet.store.arrive() == 0)
        #expect(try #require(try await fleet.store.text()).contains("latestAttempt") == false)
        try await fleet.host("b").whenMigrating(toVersion: "1.1") { context in
            #expect(context.attempt == 1)
            #expect(context.fence == 2)
        }
    }

    @Test func `a claim that arrives before it is made void is the lease`() async throws {
        fleet.store.onWrite { number, _ in number == 2 ? .comesLate : .works }
        let migrations = try await fleet.host(
            on: InterposedStore(store: fleet.store) { store in
                if store.writes != 2 { return }
                let written = try await store.arrive()
                #expect(written == 1)
            }
        )
        #expect(try await migrations.whenMigrating(toVersion: "1.1") {})
        #expect(try await fleet.host("b").lastRunVersion == AppVersion("1.1"))
    }

    /// As where the database is started again.
    @Test(arguments: [5, .max], [true, false])
    func `the end outlasts a store that is away for a moment`(last: Int, throwing: Bool) async throws {
        let migrations = try await fleet.host()
        let isSilent = Guarded(false)
        fleet.store.onRead { _ in isSilent.withLock { $0 } ? .fails : .works }
        fleet.store.onWrite { number, _ in
            isSilent.withLock { $0 = number == 4 }
            return (3...last).contains(number) ? .fails : .works
        }
        let run = { @Sendable () throws in if throwing { throw TestStore.Failure() } }
        let error = await fleet.error { try await migrations.whenMigrating(toVersion: "1.1", run: run) }
        let isNoted = last == 5
        #expect(error?.code == (throwing ? .migrationFailed : isNoted ? nil : .stateNotSaved))
        #expect(fleet.log.lines == ["a started", error == nil ? "a finished" : "a failed"])
        fleet.store.works()
        let next = try await fleet.host("b") { $0.attemptLimit = 1 }
        let second = await fleet.error { try await next.whenMigrating(toVersion: "1.1") {} }
        #expect(second?.code == (isNoted ? nil : .attemptLimitReached))
    }

    @Test func `a store that can't be read stops a start, and is no first run`() async throws {
        fleet.store.onRead { _ in .fails }
        let error = await #expect(throws: MigrationError.self) { _ = try await fleet.host() }
        #expect(error?.code == .stateUnreadable)
        #expect(
            error?.description == """
                The state of manager "Data" (document "Data" in the fleet's store) could not be read: the network is gone. Nothing \
                was run. Try again when the store can be reached.
                """
        )
        #expect(fleet.store.writes == 0)
    }

    @Test func `a document that is damaged, or of a newer format, stops a start and is left as it is`()
        async throws
    {
        _ = try await fleet.host()
        let text = try #require(try await fleet.store.text())
        for (bad, expected) in [
            (String(text.dropLast(8)), MigrationError.Code.stateCorrupted),
            (text.replacing("\"format\" : 1", with: "\"format\" : 2"), .stateFromNewerFormat),
            (text.replacing("\"Data\"", with: "\"Other\""), .stateCorrupted), ("", .stateCorrupted),
        ] {
            try await fleet.store.put(bad)
            #expect(await code { _ = try await fleet.host() } == expected)
            #expect(try await fleet.store.text() == bad)
        }
    }

    @Test func `a history that can't be read stops who reads it, and no start`() async throws {
        let first = try await fleet.host()
        try await first.whenMigrating(toVersion: "1.1") {}
        try await fleet.store.edit("\"duration\"", to: "\"hours\"")
        let next = try await fleet.host("b")
        #expect(try await !next.whenMigrating(toVersion: "1.1") {})
        #expect(await code { _ = try await next.status } == .stateCorrupted)
        try await next.whenMigrating(toVersion: "1.2") {}
        #expect(try #require(try await fleet.store.text()).contains("\"hours\""))
    }

    @Test func `a version launched that can't be saved stops nothing`() async throws {
        _ = try await fleet.host(at: "1.0")
        fleet.store.onWrite { _, _ in .fails }
        let migrations = try await fleet.host("b")
        #expect(migrations.launch == .upgrade(from: try AppVersion(parsing: "1.0")))
        #expect(fleet.log.lines == [])
    }

    @Test func `a store that refuses without a reason is asked again after a pause`() async throws {
        let migrations = try await fleet.host()
        let pauses = fleet.clock.pauses
        fleet.store.onWrite { number, _ in number < 5 ? .refuses : .works }
        let task = Call { try await migrations.whenMigrating(toVersion: "1.1") {} }
        try await fleet.pass { task.hasEnded }
        #expect(try await task.value)
        #expect(fleet.clock.pauses >= pauses + 3)
    }

    @Test func `a record that is refused without a reason is tried as long as the lease stands`()
        async throws
    {
        let migrations = try await fleet.host()
        fleet.store.onWrite { number, _ in number < 3 ? .works : .refuses }
        let began = fleet.clock.now
        let error = await fleet.error { try await migrations.whenMigrating(toVersion: "1.1") {} }
        #expect(error?.code == .stateNotSaved)
        #expect(fleet.clock.now - began >= .seconds(30))
        #expect(fleet.clock.now - began <= .seconds(31))
    }

    @Test func `a checkpoint that is refused without a reason is tried a few times`() async throws {
        let host = try await fleet.holding()
        let writes = fleet.store.writes
        fleet.store.onWrite { _, _ in .refuses }
        let saving = Call { await code { try await host.context.saveCheckpoint("here") } }
        #expect(try await saving.value == .stateNotSaved)
        #expect(fleet.store.writes == writes + 5)
        fleet.store.works()
        try await host.open()
        #expect(try await host.code == nil)
    }

    /// The closure's work since then is gone from that database too, as after a failover to a standby without the last commits.
    @Test(arguments: ["checkpoint", "record"])
    func `a store that goes back behind a checkpoint costs the lease`(_ step: String) async throws {
        let migrations = try await fleet.host()
        let error = await #expect(throws: MigrationError.self) {
            try await migrations.whenMigrating(toVersion: "1.1") { context in
                try await context.saveCheckpoint(1)
                let older = try #require(try await fleet.store.text())
                try await context.saveCheckpoint(2)
                try await fleet.store.put(older)
                if step == "checkpoint" { try await context.saveCheckpoint(3) }
            }
        }
        #expect(error?.code == .leaseLost)
        #expect(
            error?.description.contains("has an older document than the one that this host saved") == true
        )
        let next = try await fleet.host("b")
        let again = Call {
            try await next.whenMigrating(toVersion: "1.1") { context in
                let checkpoint = try context.checkpoint(as: Int.self)
                #expect(checkpoint == 1)
            }
        }
        try await fleet.pass { again.hasEnded }
        #expect(try await again.value)
    }

    @Test func `the version launched isn't saved while another host is migrating, but by the next start`()
        async throws
    {
        let old = try await fleet.host("old", at: "1.2")
        let new = Guarded<FleetMigrationManager?>(nil)
        try await old.whenMigrating(toVersion: "1.1") {
            let writes = fleet.store.writes
            let manager = try await fleet.host("new", at: "1.4")
            #expect(fleet.store.writes == writes)
            new.withLock { $0 = manager }
        }
        let manager = try #require(new.withLock { $0 })
        #expect(try await !manager.whenMigrating(toVersion: "1.1") {})
        #expect(try #require(try await fleet.store.text()).contains(#""launchedVersion" : "1.2""#))
        _ = try await fleet.host("next", at: "1.4")
        #expect(try #require(try await fleet.store.text()).contains(#""launchedVersion" : "1.4""#))
    }
}
