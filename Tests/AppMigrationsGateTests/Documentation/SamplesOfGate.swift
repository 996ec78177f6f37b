import AppMigrations
import AppMigrationsGate
import Foundation
import TestSupport
import Testing

// The sample of the module's first page, as it stands there.

private func start(in folder: URL, appVersion: String) async throws {
    let gate = MigrationGate { progress in
        let migrations = try MigrationManager(
            named: "Library",
            currentVersion: appVersion,
            firstRun: libraryVersion(in: folder),
            stateDirectory: folder.appending(path: "Migrations").path(percentEncoded: false),
            options: progress.options(.init(attemptLimit: 3))
        )
        try progress.migrate(migrations, declareLibrary)
        try openDatabase()
    }
    try await gate.ready()
}

@Sendable private func libraryVersion(in folder: URL) -> MigrationManager.FirstRun { .everything }
@Sendable private func openDatabase() throws {}

@Suite struct SamplesOfGate {
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
