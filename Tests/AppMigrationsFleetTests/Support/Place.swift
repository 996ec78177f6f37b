import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

/// A database with a table, and managers whose store it is.
struct Place {
    let path: String
    let db: AsyncSQLite
    let clock = ManualClock()

    init() async throws {
        path = TemporaryDirectory.current.file("data.sqlite")
        db = try AsyncSQLite(path)
        try await db.query("CREATE TABLE notes (title TEXT)")
    }

    func manager(_ host: String = "a", on db: AsyncSQLite? = nil) async throws -> FleetMigrationManager {
        try await FleetMigrationManager(host, on: SQLFleetStore(db ?? self.db), clock: clock)
    }

    func notes() async throws -> Int64? {
        guard case .integer(let count) = try await db.query("SELECT count(*) FROM notes").first?.first
        else {
            return nil
        }
        return count
    }

    /// Changes the document past every manager.
    func edit(_ assignments: String) {
        do {
            let other = try SQLiteConnection(path: path)
            try other.execute(script: "UPDATE app_migration_state SET \(assignments)")
        } catch {
            Issue.record(error)
        }
    }

    func insert(_ db: AsyncSQLite) async throws { try await db.query("INSERT INTO notes VALUES ('one')") }

    /// Declares a migration that writes a note.
    func migrate(_ manager: FleetMigrationManager, to version: String = "1.1") async throws -> Bool {
        try await manager.whenMigrating(toVersion: version, in: db) { try await insert($0) }
    }
}
