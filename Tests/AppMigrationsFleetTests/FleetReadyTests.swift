import AppMigrations
import AppMigrationsFleet
import Testing

/// The readiness of hosts where a migration failed, a host died, or a newer release was started.
@Suite(.timeLimit(.minutes(1)), .watchdog) struct FleetReadyTests {
    let fleet = Fleet()

    @Sendable private func declare(_ migrations: FleetMigrationManager) async throws {
        try await migrations.whenMigrating(toVersion: "1.1") {}
    }

    private func pod(
        at version: String = "1.4",
        _ change: (inout FleetMigrationManager.Options) -> Void = { _ in }
    ) async throws -> FleetMigrationManager {
        try await fleet.host("pod", at: version) {
            $0.isReadOnly = true
            change(&$0)
        }
    }

    /// Leaves a migration that threw.
    private func fail(_ version: String, at current: String = "1.4", minimumAppVersion: String? = nil)
        async throws
    {
        let host = try await fleet.host("job", at: current)
        #expect(
            await code {
                try await host.whenMigrating(toVersion: version, minimumAppVersion: minimumAppVersion) {
                    throw TestStore.Failure()
                }
            } == .migrationFailed
        )
    }

    @Test func `a probe is made while the store is down, and reads nothing before it is asked`() async throws
    {
        fleet.store.onRead { _ in .fails }
        let probe = FleetProbe(
            named: "Data",
            currentVersion: "1.4",
            store: fleet.store
        )
        #expect(fleet.store.reads == 0)
        #expect(await code { _ = try await probe.isMigrated(declare) } == .stateUnreadable)
        fleet.store.works()
        #expect(try await !probe.isMigrated(declare))
        try await declare(fleet.host())
        let reads = fleet.store.reads
        #expect(try await probe.isMigrated(declare))
        #expect(fleet.store.reads == reads + 1)
        #expect(try await probe.status.lastRunVersion == AppVersion("1.1"))
        try await fleet.host("new", at: "2.0").whenMigrating(toVersion: "2.0", minimumAppVersion: "2.0") {}
        #expect(try await !probe.isMigrated(declare))
    }

    @Test func `a plan without a state says so in its own kind`() async throws {
        let pod = try await fleet.host("pod", firstRun: .freshInstall) { $0.isReadOnly = true }
        #expect(try await pod.plan(declare).map(\.description) == ["1.1 noState"])
        try await fleet.host("job", firstRun: .freshInstall).whenMigrating(toVersion: "1.1") {}
        #expect(try await pod.plan(declare).map(\.description) == ["1.1 baseline"])
    }

    @Test func `what a newer release failed in, and an older one declares, is run by either`() async throws {
        try await fail("1.1", at: "2.0")
        let pod = try await pod()
        #expect(try await !pod.isMigrated(declare))
        #expect(try await fleet.host("old").whenMigrating(toVersion: "1.1") {})
        #expect(try await pod.isMigrated(declare))
    }

    @Test func `where a newer release began above it, an older one is not ready until the mark is set`()
        async throws
    {
        try await fail("2.0", at: "2.0")
        let old = try await fleet.host("old")
        let held = await fleet.error {
            try await old.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") }
        }
        #expect(held?.code == .usedByNewerApp)
        #expect(
            held?.description == """
                Migration 1.1 of manager "Data" (document "Data" in the fleet's store) was not run: version 2.0 of the app has \
                begun to change the data, and this app is version 1.4. Start version 2.0 or a later \
                one. If the data is still as version 0 left it, call reset(to: "0"). Every later version is then pending again. \
                Before this version serves requests, wait with untilMigrated. The guide Operating a fleet has the SQL of a reset.
                """
        )
        let pod = try await pod()
        #expect(try await !pod.isMigrated(declare))
        let error = await fleet.error { try await pod.untilMigrated(timeout: .seconds(3), declare) }
        #expect(error?.code == .lockTimeout)
        #expect(
            error?.description == """
                The manager "Data" (document "Data" in the fleet's store) waited 3.0 seconds for its declared migrations, but no \
                host is running them: the last attempt at migration 2.0, number 1, failed with "the network is gone". Version 2.0 \
                of the app has begun to change the data. Let it finish. If it is rolled back, call reset(to:) in this version \
                (1.4); the guide Operating a fleet has the SQL of a reset.
                """
        )
        let awaited = "(it began to change the data and hasn't finished; start it again"
        #expect(fleet.log.lines.contains("pod waiting app version 2.0 or later \(awaited)"))
        #expect(try old.launch == .downgrade(from: #require(AppVersion("2.0"))))
        try await old.reset(to: old.lastRunVersion.description)
        #expect(old.launch == .same)
        let next = try await fleet.host("next")
        #expect(try await next.whenMigrating(toVersion: "1.1") {})
        #expect(try await pod.isMigrated(declare))
    }

    @Test func `a manager that has waited knows the version that the data is at`() async throws {
        let pod = try await pod()
        try await fleet.host("job").whenMigrating(toVersion: "1.1") {}
        try await pod.untilMigrated(declare)
        #expect(pod.lastRunVersion == AppVersion("1.1"))
    }

    @Test func `where a newer release failed in a migration of its own, an older one stays ready`()
        async throws
    {
        try await declare(fleet.host())
        try await fail("2.0", at: "2.0", minimumAppVersion: "2.0")
        let pod = try await pod()
        #expect(try await pod.isMigrated(declare))
        try await pod.untilMigrated(timeout: .zero, declare)
        #expect(pod.requiredAppVersion == AppVersion("2.0"))
    }

    @Test func `versions that a fresh install took into its baseline have not to run`() async throws {
        try await fleet.host(at: "2.0", firstRun: .freshInstall).whenMigrating(toVersion: "2.0-1") {
            Issue.record("It ran.")
        }
        for (version, declared) in [("2.0", "2.0-1"), ("1.4", "1.4-1")] {
            let pod = try await pod(at: version)
            #expect(try await pod.isMigrated { try await $0.whenMigrating(toVersion: declared) {} })
        }
        // A host of that very version would take a later one into the baseline too, and a newer release would
        // run it.
        for (version, isMigrated) in [("2.0", true), ("2.1", false)] {
            let pod = try await pod(at: version)
            #expect(
                try await pod.isMigrated { try await $0.whenMigrating(toVersion: "2.0-2") {} } == isMigrated
            )
        }
    }

    enum End: String, CaseIterable {
        case noState, notBegun, failed, died, atWork

        var text: String {
            switch self {
            case .noState: "them: there is no state yet. "
            case .notBegun: "them: migration 1.1 was not begun. "
            case .failed:
                "them: the last attempt at migration 1.1, number 1, failed with \"the network is gone\". "
            case .died: "them: the last attempt at migration 1.1, number 1, ended without a saved result. "
            case .atWork: "for a, process "
            }
        }
    }

    @Test(arguments: End.allCases)
    func `a wait that ends says who is at work, or why nobody is`(_ end: End) async throws {
        switch end {
        case .noState: break
        case .notBegun: _ = try await fleet.host()
        case .failed: try await fail("1.1")
        case .died, .atWork: try await fleet.leaveLease()
        }
        let pod = try await pod()
        let timeout = Duration.seconds(end == .died ? 60 : 20)
        let error = await fleet.error { try await pod.untilMigrated(timeout: timeout, declare) }
        #expect(error?.code == .lockTimeout)
        #expect(error?.description.contains(end.text) == true)
        #expect(
            error?.description.hasSuffix("Restart the host that runs the migrations, and then this one.")
                == (end != .atWork)
        )
        #expect(fleet.log.lines.contains("pod waiting a host that creates the state") == (end == .noState))
        #expect(fleet.log.lines.contains("pod waiting a") == (end == .died || end == .atWork))
    }

    @Test func `a wait goes on after a migration that failed, and ends when it has run`() async throws {
        try await fail("1.1")
        let pod = try await pod { $0.attemptLimit = 1 }
        let waiting = Call { try await pod.untilMigrated(declare) }
        try await fleet.settle { waiting.hasEnded }
        try await declare(fleet.host())
        try await fleet.pass(.seconds(1)) { waiting.hasEnded }
        try await waiting.value
        #expect(fleet.log.lines.contains("pod waiting a host that runs migration 1.1"))
    }

    @Test func `a wait without bound ends where the limit of attempts lets no host go on`() async throws {
        try await fleet.leaveLease()
        let pod = try await pod { $0.attemptLimit = 1 }
        let began = fleet.clock.now
        let error = await fleet.error { try await pod.untilMigrated(declare) }
        #expect(error?.code == .attemptLimitReached)
        #expect(
            error?.description.hasSuffix(
                " or a higher limit. The page of FleetMigrationManager has the SQL of resetAttempts()."
            ) == true
        )
        #expect(fleet.clock.now - began >= .seconds(30))
    }

    @Test func `a probe sees a death once the lease has run out, and no death before`() async throws {
        try await fleet.leaveLease()
        let pod = try await pod { $0.attemptLimit = 1 }
        for pause in [0, 20, 9] {
            fleet.clock.advance(by: .seconds(pause))
            let status = try await pod.status
            #expect(status.latestAttempt?.isUnderWay == nil)
            #expect(status.latestAttempt?.crashCount == 0)
            #expect(
                status.description.contains(
                    "\nUnder way: 1.1, attempts: 1, crashes: 0, last attempt by app version 1.4, begun 2026-11-18T11:06:40Z\n  Host: a, process "
                )
            )
            #expect(status.description.contains(". Its lease expires 30.0 s after its last renewal.\n"))
            #expect(try await !pod.isMigrated(declare))
        }
        fleet.clock.advance(by: .seconds(1))
        let status = try await pod.status
        #expect(status.latestAttempt?.isUnderWay == false)
        #expect(status.latestAttempt?.crashCount == 1)
        #expect(status.description.contains("\nInterrupted: 1.1, attempts: 1, crashes: 1, "))
        #expect(
            status.description.contains(
                """
                . It hasn't renewed its lease for 30.0 s. Its process has probably ended. The next host takes over.

                """
            )
        )
        #expect(await code { _ = try await pod.isMigrated(declare) } == .attemptLimitReached)
        #expect(try await pod.plan(declare).map(\.kind) == [.refused])
    }
}
