import AppMigrationsLegacy
import Foundation

nonisolated func oldLibrary(
    in defaults: LegacyManager.Defaults = .standard
) throws -> LegacyManager {
    try LegacyManager(
        of: .mfMigrationManager(named: "Library"),
        lastRelease: "3.5",
        in: defaults
    )
}

// Called only while no state is saved. A damaged preferences file
// looks as if it had no keys. So without keys, look at the data.
nonisolated func libraryFirstRun(
    in folder: URL,
    old: LegacyManager,
    isUnlocked: Bool
) throws -> MigrationManager.FirstRun {
    try old.firstRun(
        isUnlocked: isUnlocked,
        withoutKeys: hasLibrary(in: folder)
            ? .existingData(at: "1.0") : .freshInstall
    )
}

nonisolated func hasLibrary(in folder: URL) throws -> Bool {
    let names: [String]
    do {
        names = try FileManager.default.contentsOfDirectory(
            atPath: folder.path(percentEncoded: false)
        )
    } catch CocoaError.fileReadNoSuchFile {
        return false
    }
    return names.contains("notes.txt") || names.contains("notes.md")
}

nonisolated func declareLibrary(
    _ migrations: MigrationManager,
    in folder: URL,
    old: LegacyManager
) throws {
    // Every migration of the old releases, with the same version.
    try migrations.whenMigrating(
        toVersion: "1.1",
        unlessRunBy: old
    ) {
        try removeOldCache(in: folder)
    }
    try migrations.whenMigrating(
        toVersion: "3.1-1",
        unlessRunBy: old
    ) {
        try moveNotes(in: folder)
    }
    // 4.0 is the first release with this library.
    try migrations.whenMigrating(toVersion: "4.0") {
        try moveIndex(in: folder)
    }
}

nonisolated func libraryGate(
    in folder: URL,
    appVersion: String,
    isUnlocked: @escaping @Sendable () async -> Bool
) -> MigrationGate {
    MigrationGate { attempt in
        let isUnlocked = await isUnlocked()
        let old = try oldLibrary()
        let migrations = try MigrationManager(
            named: "Library",
            currentVersion: appVersion,
            firstRun: libraryFirstRun(
                in: folder,
                old: old,
                isUnlocked: isUnlocked
            ),
            stateDirectory: folder.appending(path: "Migrations")
                .path(percentEncoded: false),
            options: attempt.options(.init(attemptLimit: 3))
        )
        if attempt.isRetry { try migrations.resetAttempts() }
        try attempt.migrate(migrations) {
            try declareLibrary($0, in: folder, old: old)
        }
        // At every start. A new install runs no closure, so only
        // this call creates its files. It also converts what 3.5
        // has written since.
        try migrations.withLock { try makeFiles(in: folder) }
    }
}
