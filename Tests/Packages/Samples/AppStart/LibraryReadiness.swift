import AppMigrations
import Foundation

// In the extension, each time before it reads the library:
nonisolated func libraryReadiness(
    in container: URL,
    appVersion: String
) throws -> MigrationManager.Readiness {
    let look = try MigrationManager(
        named: "Library",
        currentVersion: appVersion,
        stateDirectory: container.appending(path: "Migrations")
            .path(percentEncoded: false),
        options: .init(isReadOnly: true)
    )
    return try look.readiness {
        try declareLibrary($0, in: container)
    }
}
