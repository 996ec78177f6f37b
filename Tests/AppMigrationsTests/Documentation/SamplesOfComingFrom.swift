import AppMigrations
import Foundation

// The samples of "Coming from another migration library", as they stand there.

func versionLeft(
    in defaults: UserDefaults,
    by name: String?,
    appVersion: AppVersion,
    oldest: AppVersion,
    report: (String) -> Void
) -> MigrationManager.FirstRun {
    let names = name.map { [$0] } ?? ["(null)", "default"]
    let keys =
        names.map { "MFMigrationManagerLastVersionKey-\($0)" }
        + names.map { "MFMigrationManagerInitialVersionKey-\($0)" }
        + ["MTMigration.lastMigrationVersion"]
    guard let left = keys.compactMap({ defaults.string(forKey: $0) }).first else { return .freshInstall }
    let release = AppVersion(String(left.prefix { "0123456789.".contains($0) }))
    if let release, release <= appVersion, AppVersion(left) != nil { return .existingData(at: left) }
    let version = min(release ?? oldest, appVersion)
    report("\"\(left)\" in the user defaults is taken for \(version).")
    return .existingData(at: version.description)
}

func startAfterMFMigrationManager(
    appVersion: String,
    stateDirectory: String,
    report: (String) -> Void
) throws -> MigrationManager {
    let migrations = try MigrationManager(
        named: "Library",
        currentVersion: appVersion,
        firstRun: try versionLeft(
            in: .standard,
            by: "Library",
            appVersion: AppVersion(parsing: appVersion),
            oldest: AppVersion(parsing: "1.0"),
            report: report
        ),
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
