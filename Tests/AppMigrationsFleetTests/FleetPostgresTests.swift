import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

/// Transactions of PostgreSQL whose statements fail before or after the server has done them.
@Suite(.temporaryDirectory) struct FleetPostgresTests {
    let path = TemporaryDirectory.current.file("data.sqlite")
    let db: PostgresStandIn

    init() async throws {
        db = try PostgresStandIn(path)
        try await db.query("CREATE TABLE notes (title TEXT)", [])
    }

    /// How a migration that writes a note ends.
    private func migrate(_ manager: FleetMigrationManager) async -> MigrationError.Code? {
        await code {
            try await manager.whenMigrating(toVersion: "1.1", in: db) { db in
                try await db.query("INSERT INTO notes VALUES ('one')")
            }
        }
    }

    @Test(arguments: ["SELECT revision", "INSERT"])
    func `a table that another host makes while this one looks for it is there`(_ statement: String)
        async throws
    {
        var hasFailed = false
        db.before = { sql in
            guard sql.hasPrefix(statement), !hasFailed else { return }
            hasFailed = true
            try SQLiteConnection(path: path).execute(
                script: "CREATE TABLE app_migration_state(name TEXT PRIMARY KEY, revision, document)"
            )
            throw TestStore.Failure()
        }
        _ = try await FleetMigrationManager(on: SQLFleetStore(db))
        #expect(hasFailed)
        #expect(try db.db.query("SELECT count(*) FROM app_migration_state") == [[1]])
    }

    @Test(arguments: ["BEGIN", "SELECT set_config(name"])
    func `a connection is in no transaction after one that began without an answer`(_ start: String)
        async throws
    {
        let manager = try await FleetMigrationManager(on: SQLFleetStore(db))
        db.after = { if $0.hasPrefix(start) { throw TestStore.Failure() } }
        #expect(await migrate(manager) == .migrationFailed)
        #expect(try !db.db.isInTransaction)
        let seen = try await FleetMigrationManager(on: SQLFleetStore(try AsyncSQLite(path))).status
        #expect(seen.interruption?.failure == "the network is gone")
    }

    @Test func `time-outs of the server don't end the transaction of a long closure`() async throws {
        let manager = try await FleetMigrationManager(on: SQLFleetStore(db))
        #expect(await migrate(manager) == nil)
        let begin = try #require(db.statements.firstIndex { $0.hasPrefix("BEGIN") })
        for name in [
            "'statement_timeout'", "'idle_in_transaction_session_timeout'", "'transaction_timeout'",
        ] {
            #expect(db.statements[begin + 1].contains(name))
        }
    }

    @Test func `a server looks for a host that vanishes with the document's row locked`() async throws {
        let manager = try await FleetMigrationManager(on: SQLFleetStore(db))
        #expect(await migrate(manager) == nil)
        let begin = try #require(db.statements.firstIndex { $0.hasPrefix("BEGIN") })
        let words = db.statements[begin + 1].split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        for (name, value) in [("idle", 10), ("interval", 5), ("count", 3)] {
            #expect(words.contains("WHEN 'tcp_keepalives_\(name)' THEN '\(value)'"))
        }
    }

    @Test func `a server that commits later writes a lease at once`() async throws {
        let manager = try await FleetMigrationManager(on: SQLFleetStore(db))
        try await manager.whenMigrating(toVersion: "1.1") {}
        let updates = db.statements.filter { $0.hasPrefix("UPDATE") }
        #expect(updates.count == 2)
        #expect(updates.allSatisfy { $0.contains("set_config('synchronous_commit', 'local', true)") })
    }

    @Test(arguments: [1, 2])
    func `what only the transaction itself sees is no commit`(_ failures: Int) async throws {
        let manager = try await FleetMigrationManager(on: SQLFleetStore(db))
        var left = failures
        db.before = { sql in
            if sql == "COMMIT" { throw TestStore.Failure() }
            if sql == "ROLLBACK", left > 0 {
                left -= 1
                throw TestStore.Failure()
            }
        }
        #expect(await migrate(manager) == (failures == 1 ? .migrationFailed : .stateNotSaved))
        db.before = { _ in }
        try await db.query("ROLLBACK", [])
        let second = try PostgresStandIn(path)
        let next = try await FleetMigrationManager(on: SQLFleetStore(second))
        #expect(next.lastRunVersion == .zero)
        #expect(try await second.query("SELECT count(*) FROM notes", []) == [[0]])
    }
}
