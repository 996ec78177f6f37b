import AppMigrations
import Foundation

// The sample of "Coming from MFMigrationManager, MTMigration or an SQL migrator", as it stands there.

func versionLeftInDefaults(_ name: String) -> MigrationManager.FirstRun {
    let defaults = UserDefaults.standard
    let version =
        defaults.string(forKey: "MFMigrationManagerLastVersionKey-\(name)")
        ?? defaults.string(forKey: "MFMigrationManagerInitialVersionKey-\(name)")
        ?? defaults.string(forKey: "MTMigration.lastMigrationVersion")
    guard let version else { return .freshInstall }
    return .upgrading(from: version)
}
