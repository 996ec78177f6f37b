import AppMigrations
import AppMigrationsSQLite

/// A folder with a database that logs what ran in it, and the state of its managers.
struct Library {
    let folder: String
    let db: SQLiteConnection

    init(opening folder: String = TemporaryDirectory.current.path) throws {
        self.folder = folder
        db = try SQLiteConnection(path: folder + "/db")
        try db.query("CREATE TABLE IF NOT EXISTS log(version TEXT)")
    }

    var log: [[SQLValue]] { get throws { try db.query("SELECT version FROM log") } }

    /// The rows of `app_migrations`.
    var rows: [[SQLValue]] {
        get throws {
            guard try !db.query("SELECT 1 FROM sqlite_master WHERE name = 'app_migrations'").isEmpty else {
                return []
            }
            return try db.query("SELECT manager, version FROM app_migrations ORDER BY 1, 2")
        }
    }

    /// A manager for data of 1.0.
    func manager(
        named name: String = "Library",
        current: String = "1.4",
        attemptLimit: Int? = nil,
        onEvent: (@Sendable (MigrationEvent) -> Void)? = nil
    ) throws -> LibraryManager {
        LibraryManager(
            manager: try MigrationManager(
                named: name,
                currentVersion: current,
                firstRun: .existingData(at: "1.0"),
                stateDirectory: folder,
                options: MigrationManager.Options(attemptLimit: attemptLimit, onEvent: onEvent)
            ),
            db: db
        )
    }
}

struct LibraryManager {
    let manager: MigrationManager
    let db: SQLiteConnection

    @discardableResult
    func whenMigrating(toVersion version: String, run: (SQLiteConnection) throws -> Void) throws -> Bool {
        try manager.whenMigrating(toVersion: version, in: db) { db, _ in try run(db) }
    }

    /// Logs a version.
    func add(_ version: String) throws -> Bool {
        try whenMigrating(toVersion: version) { try $0.query("INSERT INTO log VALUES (?)", [.text(version)]) }
    }
}
