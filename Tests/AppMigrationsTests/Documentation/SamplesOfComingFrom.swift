import AppMigrations
import Foundation

// The samples of "Coming from another migration library", as they stand there.

func versionLeftInDefaults(_ name: String) -> MigrationManager.FirstRun {
    let defaults = UserDefaults.standard
    let version =
        defaults.string(forKey: "MFMigrationManagerLastVersionKey-\(name)")
        ?? defaults.string(forKey: "MFMigrationManagerInitialVersionKey-\(name)")
        ?? defaults.string(forKey: "MTMigration.lastMigrationVersion")
    guard let version else { return .freshInstall }
    return .upgrading(from: version)
}

func startAfterMFMigrationManager(appVersion: String, stateDirectory: String) throws -> MigrationManager {
    let migrations = try MigrationManager(
        named: "Library",
        currentVersion: appVersion,
        firstRun: versionLeftInDefaults("Library"),
        stateDirectory: stateDirectory
    )
    try migrations.whenMigrating(toVersion: "1.1") { try moveArchiveToFolders() }
    try migrations.whenMigrating(toVersion: "1.1-2") { try renameDrafts() }
    try migrations.whenMigrating(toVersion: "3.2") { try buildIndex() }
    return migrations
}

func declareStore(_ migrations: MigrationManager, store: String) throws {
    try migrations.whenMigrating(toVersion: "2.0", protecting: [store]) { context in
        try migrateCoreDataStore(at: store) { context.reportProgress($0) }
    }
}

private func moveArchiveToFolders() throws {}
private func renameDrafts() throws {}
private func buildIndex() throws {}
private func migrateCoreDataStore(at path: String, progress: (Double) -> Void) throws { progress(1) }
