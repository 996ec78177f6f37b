import AppMigrations
import AppMigrationsGate
import Foundation
import TestSupport
import Testing

// The samples of the module's first page and of the gate, as they stand there.

private func start(in folder: URL, appVersion: String) async throws {
    let gate = MigrationGate { progress in
        let migrations = try MigrationManager(
            named: "Library",
            currentVersion: appVersion,
            firstRun: libraryVersion(in: folder),
            stateDirectory: folder.appending(path: "Migrations")
                .path(percentEncoded: false),
            options: progress.options(.init(attemptLimit: 3))
        )
        try progress.migrate(migrations, declareLibrary)
        try openDatabase()
    }
    try await gate.ready()
}

private func start(_ database: Database) async throws {
    let gate = MigrationGate { progress in
        let migrations = try MigrationManager(
            named: "Library",
            currentVersion: "1.4",
            options: progress.options()
        )
        try progress.migrate(migrations, declareLibrary)
        try database.migrate()
    }
    try await gate.ready()
}

private struct Database: Sendable {
    let path: String
    func migrate() throws { try Data("tables".utf8).write(to: URL(filePath: path)) }
}

@Sendable private func libraryVersion(in folder: URL) -> MigrationManager.FirstRun { .everything }
@Sendable private func openDatabase() throws {}

@Suite struct SamplesOfGate {
    #if !canImport(Darwin)
    /// In a process of its own, whose default folder is the test's.
    @Test func `the gate of the type's own sample makes the tables of a new install`() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryFolder { folder async throws in
                try #require(setenv("XDG_DATA_HOME", folder, 1) == 0)
                try await start(Database(path: folder + "/tables"))
                #expect(FileManager.default.fileExists(atPath: folder + "/tables"))
                let state = try MigrationManager(named: "Library", currentVersion: "1.4")
                #expect(state.launch == .same && state.lastRunVersion == AppVersion("1.4"))
            }
        }
    }
    #endif

    @Test func `the gate opens once its managers have run`() async throws {
        try await withTemporaryFolder { folder async throws in
            try await start(in: URL(filePath: folder), appVersion: "1.4")
            let state = try MigrationManager(
                named: "Library",
                currentVersion: "1.4",
                stateDirectory: folder + "/Migrations"
            )
            #expect(try state.history.map(\.version.description) == ["1.1", "1.4"])
        }
    }
}
