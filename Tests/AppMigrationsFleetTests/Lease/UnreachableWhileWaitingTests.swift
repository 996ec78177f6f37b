import AppMigrations
import AppMigrationsFleet
import Testing

/// Hosts that wait while the store can't be read, as when its server restarts.
@Suite(.timeLimit(.minutes(1)), .watchdog) struct UnreachableWhileWaitingTests {
    let fleet = Fleet()

    /// A host that waits for one that died in 1.1, as its document says; gives the code with which it ends.
    private func waiting(
        _ work: @escaping @Sendable () -> Void = {}
    ) async throws -> Call<MigrationError.Code?> {
        try await fleet.leaveLease()
        let host = try await fleet.host("b") { $0.leaseDuration = .seconds(10) }
        let task = Call { await code { try await host.whenMigrating(toVersion: "1.1") { work() } } }
        try await fleet.settle { task.hasEnded }
        return task
    }

    @Test func `a wait outlasts a store that can't be read, and watches the lease for its whole length anew`()
        async throws
    {
        let task = try await waiting()
        try await fleet.pass(.seconds(20)) { task.hasEnded }
        fleet.store.onRead { _ in .fails }
        try await fleet.pass(.seconds(6)) { task.hasEnded }
        fleet.store.works()
        let recovered = fleet.clock.now
        try await fleet.pass(.seconds(120)) { task.hasEnded }
        #expect(fleet.clock.now - recovered >= .seconds(30))
        #expect(fleet.clock.now - recovered < .seconds(120))
        #expect(try await task.value == nil)
    }

    @Test func `a wait ends with the store's error after the length of a lease`() async throws {
        let task = try await waiting { Issue.record("It ran.") }
        fleet.store.onRead { _ in .fails }
        try await fleet.pass(.seconds(9)) { task.hasEnded }
        #expect(!task.hasEnded)
        try await fleet.pass(.seconds(60)) { task.hasEnded }
        if !task.hasEnded { task.cancel() }
        #expect(try await task.value == .stateUnreadable)
    }

    @Test func `failures that a success interrupts are counted from the next one`() async throws {
        let task = try await waiting()
        for _ in 0..<3 {
            fleet.store.onRead { _ in .fails }
            try await fleet.pass(.seconds(7)) { task.hasEnded }
            fleet.store.works()
            try await fleet.pass(.seconds(3)) { task.hasEnded }
        }
        #expect(!task.hasEnded)
        task.cancel()
        #expect(try await task.value == .cancelled)
    }

    @Test func `a document that can't be understood ends a wait at once`() async throws {
        let task = try await waiting { Issue.record("It ran.") }
        try await fleet.store.put("nonsense")
        try await fleet.pass(.seconds(5)) { task.hasEnded }
        if !task.hasEnded { task.cancel() }
        #expect(try await task.value == .stateCorrupted)
    }

    @Test func `a pod that waits for the job outlasts it as well`() async throws {
        let pod = try await fleet.host("pod") { $0.isReadOnly = true }
        let task = Call {
            await code { try await pod.untilMigrated { try await $0.whenMigrating(toVersion: "1.1") {} } }
        }
        try await fleet.settle { task.hasEnded }
        fleet.store.onRead { _ in .fails }
        try await fleet.pass(.seconds(20)) { task.hasEnded }
        fleet.store.works()
        try await fleet.host("job").whenMigrating(toVersion: "1.1") {}
        try await fleet.pass(.seconds(60)) { task.hasEnded }
        if !task.hasEnded { task.cancel() }
        #expect(try await task.value == nil)
    }
}
