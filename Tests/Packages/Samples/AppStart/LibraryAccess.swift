import AppMigrations
import Foundation

nonisolated enum LibraryAccess {
    case ready, openTheApp, updateTheApp
}

nonisolated func openLibraryInExtension(
    named name: String,
    in container: URL,
    appVersion: String,
    declarations: (MigrationManager) throws -> Void
) throws -> LibraryAccess {
    let migrations = try MigrationManager(
        named: name,
        currentVersion: appVersion,
        stateDirectory: container.appending(path: "Migrations")
            .path(percentEncoded: false),
        options: .init(isReadOnly: true)
    )
    if migrations.requiredAppVersion != nil { return .updateTheApp }
    let status = try migrations.status
    guard status.hasState else { return .openTheApp }
    // The app is migrating, or has crashed in a migration.
    if let attempt = status.latestAttempt,
        attempt.isUnderWay != false
    {
        return .openTheApp
    }
    for row in try migrations.plan(declarations) {
        if row.kind == .willRun { return .openTheApp }
        guard let error = row.error else { continue }
        switch error.code {
        case .usedByNewerApp: return .updateTheApp
        case .attemptLimitReached: return .openTheApp
        default: throw error
        }
    }
    return .ready
}
