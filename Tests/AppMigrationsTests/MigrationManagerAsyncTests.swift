import AppMigrations
import Testing

@MainActor
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct MigrationManagerAsyncTests {
    let folder = TemporaryDirectory.current

    @MainActor
    private final class Model {
        var notes: [String] = []

        func migrate(_ manager: MigrationManager) async throws {
            try await manager.whenMigrating(toVersion: "1.1") {
                notes.append("asynchronous")
                await Task.yield()
                MainActor.assertIsolated()
                notes.append("after a suspension")
            }
            try await manager.whenMigrating(toVersion: "1.2") { context in
                notes.append("attempt \(context.attempt)")
                await Task.yield()
            }
            try manager.whenMigrating(toVersion: "1.3") { notes.append("synchronous") }
            try manager.whenMigrating(toVersion: "1.4") { context in notes.append("\(context.version)") }
        }
    }

    @Test func `closures of the main actor change its state, whether they are asynchronous or not`()
        async throws
    {
        let model = Model()
        let manager = try folder.manager("1.4", firstRun: .everything)
        try await model.migrate(manager)
        let expected = ["asynchronous", "after a suspension", "attempt 1", "synchronous", "1.4"]
        #expect(model.notes == expected)
        try await model.migrate(try folder.manager("1.4"))
        #expect(model.notes == expected)
        #expect(try manager.status.history.map(\.version.description) == ["1.1", "1.2", "1.3", "1.4"])
    }

    @Test func `an asynchronous error is recorded as a synchronous one is`() async throws {
        let manager = try folder.manager("1.4", after: "1.1")
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.2") {
                await Task.yield()
                throw Failure()
            }
        }
        #expect(error?.code == .migrationFailed)
        #expect(error?.underlyingError is Failure)
        let blocked = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.3") { await Task.yield() }
        }
        #expect(blocked?.code == .managerClosed)
        try await folder.manager("1.4").whenMigrating(toVersion: "1.2") { context in
            await Task.yield()
            #expect(context.attempt == 2)
        }
    }

    @Test func `a cancelled task cancels its migration when the closure says so`() async throws {
        try folder.writeState(lastRun: "1.1")
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let task = Task.detached {
            try await folder.manager("1.4").whenMigrating(toVersion: "1.2") {
                beginning.yield()
                for await _ in AsyncStream<Void>(unfolding: {
                    Task.isCancelled ? nil : await Task.yield()
                }) {}
                try Task.checkCancellation()
            }
        }
        for await _ in begun { break }
        task.cancel()
        let error = await #expect(throws: MigrationError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try folder.manager("1.4").declare("1.2") == ["1.2"])
    }

    @Test(arguments: [false, true])
    func `a cancelled task begins no further migration, and the next start goes on there`(isAsync: Bool)
        async throws
    {
        try folder.writeState(lastRun: "1.1")
        let task = Task.detached {
            let manager = try folder.manager("1.4")
            let cancel = { withUnsafeCurrentTask { $0?.cancel() } }
            if isAsync {
                try await manager.whenMigrating(toVersion: "1.2") { () async in cancel() }
                try await manager.whenMigrating(toVersion: "1.3") { () async in Issue.record("It began.")
                }
            } else {
                func declare() throws {
                    try manager.whenMigrating(toVersion: "1.2") { cancel() }
                    try manager.whenMigrating(toVersion: "1.3") { Issue.record("It began.") }
                }
                try declare()
            }
        }
        let error = await #expect(throws: MigrationError.self) { try await task.value }
        #expect(error?.code == .cancelled && error?.version == version("1.3"))
        #expect(
            error?.description.contains("was about to run migration 1.3. Migration 1.3 was not run.") == true
        )
        let status = try folder.manager("1.4").status
        #expect(status.lastRunVersion == version("1.2") && status.latestAttempt == nil)
        #expect(try folder.manager("1.4").declare("1.3", "1.4") == ["1.3", "1.4"])
    }

    @Test func `what has run is skipped without a suspension`() async throws {
        let manager = try folder.manager("1.4", after: "1.4")
        let isRun = try await manager.whenMigrating(toVersion: "1.2") { await Task.yield() }
        let isRunToo = try await manager.whenMigrating(toVersion: "1.3") { _ in await Task.yield() }
        #expect(!isRun)
        #expect(!isRunToo)
        #expect(try folder.names() == ["Library.migrations.json"])
    }
}
