import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

/// A database with a table, and managers whose store it is.
struct Place {
    let path: String
    /// The connection of the closures.
    let db: PostgresStandIn
    let clock = ManualClock()

    init() async throws {
        path = TemporaryDirectory.current.file("data.sqlite")
        db = try PostgresStandIn(path)
        try await db.query("CREATE TABLE notes (title TEXT)")
    }

    func manager(_ host: String = "a") async throws -> FleetMigrationManager {
        try await FleetMigrationManager(host, on: postgresStore(path), clock: clock)
    }

    func notes() async throws -> Int64? {
        guard case .integer(let count) = try await db.query("SELECT count(*) FROM notes").first?.first
        else { return nil }
        return count
    }

    /// Changes the document past every manager.
    func edit(_ assignments: String) {
        do {
            let other = try SQLiteConnection(path: path)
            try other.execute(script: "UPDATE app_migration_state SET \(assignments)")
        } catch { Issue.record(error) }
    }

    func insert(_ db: PostgresStandIn) async throws { try await db.query("INSERT INTO notes VALUES ('one')") }

    /// Declares a migration that writes a note.
    func migrate(_ manager: FleetMigrationManager, to version: String = "1.1") async throws -> Bool {
        try await manager.whenMigrating(toVersion: version, in: db) { db, _ in try await insert(db) }
    }
}
