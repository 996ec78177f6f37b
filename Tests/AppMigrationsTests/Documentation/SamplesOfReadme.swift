import AppMigrations
import Foundation

// The README's samples, as they stand there: ReadmeTests compares them.

func migrate(_ library: Library) throws {
    let migrations = try MigrationManager(named: "Library", currentVersion: "1.4")
    try migrations.whenMigrating(toVersion: "1.1") { try library.moveArchiveToFolders() }
    try migrations.whenMigrating(toVersion: "1.1-2") { try library.renameDrafts() }  // a sub-migration of 1.1
    try migrations.whenMigrating(toVersion: "1.4") { try library.database.migrate() }  // any SQL layer
}

func start(_ app: App) {
    let folder = app.container.appending(path: "Migrations").path(percentEncoded: false)
    do {
        let migrations = try MigrationManager(
            named: "Library",
            currentVersion: app.version,
            firstRun: app.firstRun(),
            stateDirectory: folder,
            options: .init(lockTimeout: .seconds(20), attemptLimit: 3)
        )
        if case .downgrade = migrations.launch { return app.show(.updateTheApp) }
        let pending = try migrations.plan(app.declare).filter { $0.kind == .willRun }
        if !pending.isEmpty { app.show(.updating(steps: pending.count)) }
        try app.declare(migrations)
        app.show(.library)
    } catch let error as MigrationError where error.code == .stateUnreadable {
        app.startAgainWhenUnlocked(error)
    } catch {
        app.show(.recovery(error))
    }
}

struct Library {
    struct Database {
        func migrate() throws {}
    }

    let database = Database()

    func moveArchiveToFolders() throws {}
    func renameDrafts() throws {}
}

final class App {
    enum Screen { case updating(steps: Int), library, recovery(any Error), locked, updateTheApp }

    let container: URL
    let version: String
    let declare: (MigrationManager) throws -> Void
    private(set) var screens: [Screen] = []

    init(container: URL, version: String, declare: @escaping (MigrationManager) throws -> Void) {
        self.container = container
        self.version = version
        self.declare = declare
    }

    func firstRun() -> MigrationManager.FirstRun { .freshInstall }
    func show(_ screen: Screen) { screens.append(screen) }
    func startAgainWhenUnlocked(_ error: MigrationError) { screens.append(.locked) }
}
