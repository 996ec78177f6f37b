import AppMigrations
import AppMigrationsFleet
import Testing

@Suite(.timeLimit(.minutes(1)), .watchdog) struct FleetLookingTests {
    let fleet = Fleet()

    /// The declarations of this release, as an app hands it to the migration job and to the pods.
    private func declare(_ migrations: FleetMigrationManager) async throws {
        try await migrations.whenMigrating(toVersion: "1.1") {}
        try await migrations.whenMigrating(toVersion: "1.4") {}
    }

    @Test func `a pod is migrated once the job is, and writes nothing`() async throws {
        let pod = try await fleet.host("pod") { $0.isReadOnly = true }
        #expect(pod.launch == .first)
        #expect(try await !pod.isMigrated(declare))
        #expect(fleet.store.writes == 0)
        let job = try await fleet.host("job")
        #expect(try await !pod.isMigrated(declare))
        try await job.whenMigrating(toVersion: "1.1") {
            let isMigrated = try await pod.isMigrated(declare)
            #expect(!isMigrated)
        }
        #expect(try await !pod.isMigrated(declare))
        try await job.whenMigrating(toVersion: "1.4") {}
        let (reads, writes) = (fleet.store.reads, fleet.store.writes)
        #expect(try await pod.isMigrated(declare))
        #expect(fleet.store.reads == reads + 1)
        #expect(fleet.store.writes == writes)
    }

    @Test func `data that is ahead is migrated, and the floor says whether it may be used`() async throws {
        let pod = try await fleet.host("pod") { $0.isReadOnly = true }
        try await fleet.host("job", at: "2.0").whenMigrating(toVersion: "2.0", minimumAppVersion: "1.5") {}
        #expect(try await pod.isMigrated(declare))
        #expect(pod.requiredAppVersion == nil)
        #expect(try await pod.status.minimumAppVersion == AppVersion("1.5"))
    }

    @Test func `a declaration that no data satisfies is an error, and not a wait without end`() async throws {
        _ = try await fleet.host()
        let pod = try await fleet.host("pod") { $0.isReadOnly = true }
        #expect(
            await code {
                _ = try await pod.isMigrated { migrations in
                    try await migrations.whenMigrating(toVersion: "1.2") {}
                    try await migrations.whenMigrating(toVersion: "1.1") {}
                }
            } == .declaredOutOfOrder
        )
    }

    @Test func `a plan has a row for each declaration, reads once and changes nothing`() async throws {
        let migrations = try await fleet.host()
        try await migrations.whenMigrating(toVersion: "1.1") {}
        let (reads, writes) = (fleet.store.reads, fleet.store.writes)
        let plan = try await fleet.host("b").plan { migrations in
            try await migrations.whenMigrating(toVersion: "1.0") { Issue.record("It ran.") }
            try await migrations.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") }
            try await migrations.whenMigrating(toVersion: "1.4") { Issue.record("It ran.") }
            try await migrations.whenMigrating(toVersion: "2.0") { Issue.record("It ran.") }
        }
        let rows = plan.map { "\($0.version) \($0.kind)" }
        #expect(rows == ["1.0 missed", "1.1 alreadyRun", "1.4 willRun", "2.0 refused"])
        #expect(fleet.store.reads == reads + 2)
        #expect(fleet.store.writes == writes)
    }

    @Test func `the manager asked for a plan is refused inside, and the plan's own after it`() async throws {
        let migrations = try await fleet.host()
        var kept: FleetMigrationManager?
        _ = try await migrations.plan { planned in
            kept = planned
            #expect(await code { try await planned.reset(to: "1.4") } == .nested)
            #expect(await code { try await migrations.whenMigrating(toVersion: "1.1") {} } == .nested)
        }
        let after = try #require(kept)
        #expect(await code { try await after.whenMigrating(toVersion: "1.1") {} } == .managerClosed)
        #expect(await code { try await after.resetAttempts() } == .managerClosed)
        #expect(try await migrations.whenMigrating(toVersion: "1.1") {})
    }

    @Test func `an attempt under way is no death in a plan`() async throws {
        let migrations = try await fleet.host { $0.attemptLimit = 1 }
        try await migrations.whenMigrating(toVersion: "1.1") {
            let plan = try await fleet.host("b") { $0.attemptLimit = 1 }.plan { migrations in
                try await migrations.whenMigrating(toVersion: "1.1") {}
            }
            #expect(plan.map(\.kind) == [.willRun])
            let status = try await fleet.host("b").status
            #expect(status.latestAttempt?.isUnderWay == nil)
            #expect(status.latestAttempt?.attemptCount == 1)
            #expect(status.stateFile == #"document "Data" in the fleet's store"#)
        }
        #expect(try await migrations.status.history.map(\.version) == [try AppVersion(parsing: "1.1")])
    }

    @Test func `a reset makes what lies after it pending again, and keeps the fence`() async throws {
        let migrations = try await fleet.host()
        try await migrations.whenMigrating(toVersion: "1.1") {}
        try await migrations.whenMigrating(toVersion: "1.2") {}
        try await migrations.reset(to: "1.1")
        #expect(migrations.lastRunVersion == AppVersion("1.1"))
        #expect(try await !migrations.whenMigrating(toVersion: "1.1") {})
        try await migrations.whenMigrating(toVersion: "1.2") { #expect($0.fence == 3) }
        #expect(await code { try await migrations.reset(to: "2.0") } == .newerThanCurrentVersion)
    }
}
