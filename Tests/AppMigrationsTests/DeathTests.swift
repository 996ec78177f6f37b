import AppMigrations
import Foundation
import Testing

/// Processes that die in the middle of a migration, and what the next one finds.
struct DeathTests {
    private func die(in folder: TemporaryDirectory, migration: String, app: String = "1.4") async {
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, migration = migration as String, app = app as String] in
            let manager = try MigrationManager(named: "Library", currentVersion: app, stateDirectory: path)
            try manager.whenMigrating(toVersion: migration) { kill(getpid(), SIGKILL) }
        }
    }

    @Test func `a migration whose process died runs again, as a retry`() async throws {
        try await withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1")
            await die(in: folder, migration: "1.2")
            #expect(try folder.stateText().contains("\"attempts\" : 1, \"deaths\" : 0"))
            let manager = try folder.manager("1.4")
            #expect(manager.lastRunVersion == version("1.1"))
            var attempts: [Int] = []
            try manager.whenMigrating(toVersion: "1.2") { context in
                attempts.append(context.attempt)
                #expect(context.isRetry)
            }
            #expect(attempts == [2])
            #expect(try manager.history.map(\.attempts) == [2])
        }
    }

    @Test func `the limit of attempts counts deaths, and a new app version starts again`() async throws {
        try await withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1")
            await die(in: folder, migration: "1.2")
            await die(in: folder, migration: "1.2")
            let options = MigrationManager.Options(attemptLimit: 2)
            let before = try folder.stateText()
            let error = try folder.manager("1.4", options: options).refusal(of: "1.2")
            #expect(error.code == .attemptLimitReached)
            #expect(error.description.contains("2 processes of this app version died in it"))
            #expect(try folder.stateText() == before)
            let newer = try folder.manager("1.5", options: options)
            try newer.whenMigrating(toVersion: "1.2") { context in #expect(context.attempt == 3) }
            #expect(newer.lastRunVersion == version("1.2"))
        }
    }

    @Test func `the lock of a dead process is free`() async throws {
        try await withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1")
            await die(in: folder, migration: "1.2")
            let options = MigrationManager.Options(lockTimeout: .zero)
            let manager = try folder.manager("1.4", options: options)
            #expect(try manager.declare("1.2") == ["1.2"])
        }
    }
}
