import AppMigrations
import Foundation

// The README's samples, as they stand there: ReadmeTests compares them.

func migrate(_ library: Library) throws {
    let migrations = try MigrationManager(named: "Library", currentVersion: "1.4")
    try migrations.whenMigrating(toVersion: "1.1") { try library.moveArchiveToFolders() }
    try migrations.whenMigrating(toVersion: "1.1-2") { try library.renameDrafts() }  // a second step in 1.1
    try migrations.whenMigrating(toVersion: "1.4") { try library.deleteThumbnails() }
    // At every start: a new install runs no closure.
    try library.database.migrate()
}

@concurrent func start(_ library: Library, show: @MainActor (Screen) -> Void) async {
    do {
        let migrations = try MigrationManager(
            named: "Library",
            currentVersion: library.appVersion,
            firstRun: library.firstRun(),
            stateDirectory: library.folder.appending(path: "Migrations").path(percentEncoded: false),
            options: .init(lockTimeout: .seconds(20), attemptLimit: 3)
        )
        if case .downgrade = migrations.launch { return await show(.updateTheApp) }
        let pending = try migrations.plan(library.declare).filter { $0.kind == .willRun }
        if !pending.isEmpty { await show(.updating(steps: pending.count)) }
        try library.declare(migrations)
        try library.database.migrate()
        await show(.library)
    } catch let error as MigrationError where error.code == .stateUnreadable {
        await show(.startAgainAfterUnlock(error))
    } catch {
        await show(.recovery(error))
    }
}

enum Screen: Sendable {
    case updating(steps: Int), library, recovery(any Error), startAgainAfterUnlock(MigrationError),
        updateTheApp
}

struct Library: Sendable {
    struct Database {
        func migrate() throws { try Calls.note("makeTables") }
    }

    let folder: URL
    let appVersion: String
    let declare: @Sendable (MigrationManager) throws -> Void

    var database: Database { Database() }

    func firstRun() -> MigrationManager.FirstRun { .freshInstall }
    func moveArchiveToFolders() throws { try Calls.note() }
    func renameDrafts() throws { try Calls.note() }
    func deleteThumbnails() throws { try Calls.note() }
}
