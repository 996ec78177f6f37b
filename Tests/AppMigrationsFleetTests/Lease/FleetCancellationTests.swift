import AppMigrations
import AppMigrationsFleet
import Testing

/// A task that is cancelled while its closure runs, on a store that does nothing in a cancelled task.
@Suite(.timeLimit(.minutes(1)), .watchdog) struct FleetCancellationTests {
    let fleet = Fleet()

    private func manager() async throws -> FleetMigrationManager {
        let strict = InterposedStore(store: fleet.store) {
            try Task.checkCancellation()
        } beforeWrite: { _ in
            try Task.checkCancellation()
        }
        return try await FleetMigrationManager(on: strict)
    }

    /// Runs a migration whose task is cancelled before `end`.
    private func cancelled(
        _ end: @escaping @Sendable (FleetMigrationContext) async throws -> Void
    ) async throws -> (code: MigrationError.Code?, status: MigrationStatus) {
        let manager = try await manager()
        let (began, door) = (Door(), Door())
        let task = Call {
            await code {
                try await manager.whenMigrating(toVersion: "1.1") { context in
                    began.open()
                    await door.pass()
                    try await end(context)
                }
            }
        }
        try await waitUntil { began.isOpen || task.hasEnded }
        task.cancel()
        door.open()
        return (try await task.value, try await manager.status)
    }

    @Test func `work that is done all the same is recorded`() async throws {
        let (code, status) = try await cancelled { _ in }
        #expect(code == nil)
        #expect(status.lastRunVersion == AppVersion("1.1"))
    }

    @Test func `a failure is noted, and counts as no death`() async throws {
        let (code, status) = try await cancelled { _ in try Task.checkCancellation() }
        #expect(code == .cancelled)
        #expect(status.latestAttempt?.failure == nil)
        #expect(status.description.contains("\nInterrupted: 1.1"))
        #expect(status.latestAttempt?.crashCount == 0)
    }

    @Test func `a checkpoint is saved`() async throws {
        let (code, status) = try await cancelled { try await $0.saveCheckpoint("here") }
        #expect(code == .cancelled)
        #expect(status.latestAttempt?.checkpoint == "here")
    }

    @Test func `a status that is asked for in a cancelled task says so, and not that the store is gone`()
        async throws
    {
        let (_, status) = try await cancelled { _ in }
        #expect(status.hasState)
        let manager = try await manager()
        let door = Door()
        let task = Call {
            await door.pass()
            return try await manager.status
        }
        task.cancel()
        door.open()
        let error = await #expect(throws: MigrationError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(error?.underlyingError is CancellationError)
        #expect(
            error?.description == """
                The task was cancelled while the state of manager "Data" (document "Data" in the fleet's store) was read. \
                Create a new manager to try again.
                """
        )
    }
}
