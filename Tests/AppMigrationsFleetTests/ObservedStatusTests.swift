import AppMigrations
import AppMigrationsFleet
import Testing

/// The status that waits until it knows whether the host of an attempt is alive.
@Suite(.timeLimit(.minutes(1)), .watchdog) struct ObservedStatusTests {
    let fleet = Fleet()

    private var probe: FleetProbe {
        var options = FleetMigrationManager.Options()
        options.clock = fleet.clock.clock
        return FleetProbe(
            named: "Data",
            currentVersion: "1.4",
            store: fleet.store,
            options: options
        )
    }

    @Test func `a host that renews its lease is alive`() async throws {
        let held = try await fleet.holding()
        let probe = probe
        let began = fleet.clock.now
        let call = Call { try await probe.observedStatus() }
        try await fleet.pass(timers: 1) { call.hasEnded }
        let status = try await call.value
        #expect(status.latestAttempt?.isUnderWay == true)
        #expect(status.latestAttempt?.crashCount == 0)
        #expect(status.description.contains("\nUnder way: 1.1, attempts: 1, crashes: 0, "))
        #expect(status.description.contains(". It is alive: it has just renewed its lease.\n"))
        #expect(fleet.clock.now - began <= .seconds(6))
        try await held.open()
        #expect(try await held.code == nil)
    }

    @Test func `a host that renews no lease for its length is dead, and counted`() async throws {
        try await fleet.leaveLease(.seconds(12))
        let writes = fleet.store.writes
        let probe = probe
        let began = fleet.clock.now
        let call = Call { try await probe.observedStatus() }
        try await fleet.pass(.seconds(11)) { call.hasEnded }
        #expect(!call.hasEnded)
        try await fleet.pass { call.hasEnded }
        let status = try await call.value
        #expect(status.latestAttempt?.isUnderWay == false)
        #expect(status.latestAttempt?.crashCount == 1)
        #expect(status.description.contains("\nInterrupted: 1.1, attempts: 1, crashes: 1, "))
        let text = "It hasn't renewed its lease for 12.0 s. Its process has probably ended."
        #expect(status.description.contains(". \(text) The next host takes over.\n"))
        #expect(fleet.clock.now - began <= .seconds(13))
        #expect(fleet.store.writes == writes)
    }

    @Test func `without a lease the store is read once`() async throws {
        #expect(try await !probe.observedStatus().hasState)
        let host = try await fleet.host()
        await #expect(throws: MigrationError.self) {
            try await host.whenMigrating(toVersion: "1.1") { throw TestStore.Failure() }
        }
        let reads = fleet.store.reads
        let status = try await host.observedStatus()
        #expect(fleet.store.reads == reads + 1)
        #expect(status.latestAttempt?.isUnderWay == false)
        #expect(status.latestAttempt?.failure != nil)
        #expect(!status.description.contains("Host: "))
    }

    @Test func `an observation whose task is cancelled ends with cancelled`() async throws {
        try await fleet.leaveLease()
        let probe = probe
        let call = Call { await code { _ = try await probe.observedStatus() } }
        try await fleet.settle { call.hasEnded }
        call.cancel()
        #expect(try await call.value == .cancelled)
    }
}
