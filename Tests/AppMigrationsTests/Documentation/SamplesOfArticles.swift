import AppMigrations
import Foundation

// The samples of the landing page and of "Writing migrations", as they stand there.

private func landingPage() throws {
    let migrations = try MigrationManager(named: "Library", currentVersion: "1.4")
    try migrations.whenMigrating(toVersion: "1.1") { try moveArchiveToFolders() }
    try migrations.whenMigrating(toVersion: "1.1-2") { try renameDrafts() }
    try migrations.whenMigrating(toVersion: "1.4") { try deleteThumbnails() }
    // At every start: a new install runs none of the closures, and needs its tables.
    try database.migrate()
}

private func writingMigrations(oldLibrary: String) throws -> MigrationManager {
    let migrations = try MigrationManager(
        named: "Library",
        currentVersion: "3.2",
        firstRun: FileManager.default.fileExists(atPath: oldLibrary)
            ? .existingData(at: "1.0") : .freshInstall
    )
    return migrations
}

private func syncingToDisk(_ migrations: MigrationManager, _ libraryFolder: String) throws {
    try migrations.whenMigrating(toVersion: "1.1") { context in
        try moveArchiveToFolders()
        try context.synchronize(libraryFolder)
    }
}

private let database = Library.Database()
private func moveArchiveToFolders() throws {}
private func renameDrafts() throws {}
private func deleteThumbnails() throws {}
