import AppMigrations
import Foundation

// The samples of "Adopting the library in an app that has shipped", as they stand there.

func libraryVersion(in folder: URL) -> MigrationManager.FirstRun {
    let files = FileManager.default
    if files.fileExists(atPath: folder.appending(path: "library.sqlite").path(percentEncoded: false)) {
        return .existingData(at: "2.0")
    }
    if files.fileExists(atPath: folder.appending(path: "library.plist").path(percentEncoded: false)) {
        return .existingData(at: "1.0")
    }
    return .freshInstall
}

func startLibrary(in folder: URL, appVersion: String) throws -> MigrationManager {
    let migrations = try MigrationManager(
        named: "Library",
        currentVersion: appVersion,
        firstRun: libraryVersion(in: folder),
        stateDirectory: folder.appending(path: "Migrations").path(percentEncoded: false),
        options: .init(attemptLimit: 3)
    )
    try migrations.whenMigrating(toVersion: "2.0") { try moveToDatabase(folder) }
    try migrations.whenMigrating(
        toVersion: "3.2",
        protecting: [folder.path(percentEncoded: false) + "/drafts"]
    ) {
        try renameDrafts(folder)
    }
    return migrations
}

private func moveToDatabase(_ folder: URL) throws {}
private func renameDrafts(_ folder: URL) throws {}
