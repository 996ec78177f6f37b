import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import Foundation
import PostgresConnection
import Testing

/// Migrations that take longer than every time-out that the database sets.
///
/// Without these, a service whose database has such a setting would fail at every start. PostgreSQL 17 and
/// later have `transaction_timeout`, whose running timer can't be raised.
@Suite struct PostgresTimeoutTests {
    /// Makes a database whose time-outs are all shorter than the work of a migration.
    private func withTimeouts(only: String? = nil, _ body: (_ info: String) async throws -> Void) async throws
    {
        try await withDatabase { info in
            let db = try PostgresConnection(info)
            let names = try db.query(
                """
                SELECT name FROM pg_settings WHERE name IN ('statement_timeout', 'transaction_timeout', 'lock_timeout',
                'idle_in_transaction_session_timeout')
                """
            )
            guard case .text(let database) = try db.query("SELECT current_database()::text")[0][0] else {
                throw CocoaError(.fileReadUnknown)
            }
            for case .text(let name) in names.map(\.[0]) where only ?? name == name {
                try db.query("ALTER DATABASE \(database) SET \(name) = '200ms'")
            }
            try await body(info)
        }
    }

    /// Statements that take longer than the time-outs, each of them and all together.
    private static let work = [String](repeating: "SELECT pg_sleep(0.3)::text", count: 2)

    @Test func `numbered files outlive them`() async throws {
        try await withTimeouts { info in
            let file = Self.work.joined(separator: ";\n")
            let files = SQLMigration<AsyncPostgresConnection>.numbered([file, file])
            #expect(try await SQLMigrator(files).migrate(AsyncPostgresConnection(info)).applied == [1, 2])
            let blocking = try SQLMigrator(
                SQLMigration<PostgresConnection>.numbered([file, file]),
                ledger: "other",
                transactions: .all
            )
            #expect(try blocking.migrate(PostgresConnection(info)).applied == [1, 2])
        }
    }

    @Test func `a statement outside of a transaction is ended by them, and says what to do`() async throws {
        try await withTimeouts(only: "statement_timeout") { info in
            let call = "-- app-migrations: no transaction\nSELECT pg_sleep(10)::text"
            let migrator = try SQLMigrator(SQLMigration<AsyncPostgresConnection>.numbered([call]))
            let error = await #expect(throws: SQLError.self) {
                try await migrator.migrate(AsyncPostgresConnection(info))
            }
            #expect(error?.sqlState == "57014")
            #expect(error?.message.contains("ALTER ROLE") == true, "\(error)")
        }
    }

    @Test func `closures and batches of a fleet outlive them`() async throws {
        try await withTimeouts { info in
            let manager = try await FleetMigrationManager(
                named: "Data",
                currentVersion: "2.0",
                firstRun: .everything,
                store: PostgresFleetStore { try await AsyncPostgresConnection(info) }
            )
            let connect = { try await AsyncPostgresConnection(info) }
            #expect(
                try await manager.whenMigrating(toVersion: "1.1", in: try await connect()) { db, _ in
                    for statement in Self.work { try await db.query(statement) }
                }
            )
            #expect(
                try await manager.whenMigrating(toVersion: "1.2", in: try await connect()) { db, cursor, _ in
                    for statement in Self.work { try await db.query(statement) }
                    return cursor == nil ? .continue(at: "1") : .done
                }
            )
            #expect(manager.lastRunVersion == AppVersion("1.2"))
        }
    }
}

/// What a script on PostgreSQL may not do, and the advice that works.
@Suite struct PostgresAdviceTests {
    private func error(
        of scripts: [String],
        transactions: SQLMigrator<PostgresConnection>.Transactions = .eachMigration,
        on info: String
    )
        throws -> SQLError
    {
        let migrator = try SQLMigrator(
            SQLMigration<PostgresConnection>.numbered(scripts),
            transactions: transactions
        )
        return try #require(throws: SQLError.self) { try migrator.migrate(PostgresConnection(info)) }
    }

    @Test func `a commit in a procedure belongs outside of a transaction`() throws {
        try withConnection { db, info in
            try db.query("CREATE PROCEDURE p() LANGUAGE plpgsql AS $$BEGIN COMMIT; END$$")
            for call in ["CALL p()", "DO $$BEGIN COMMIT; END$$"] {
                let error = try error(of: [call], on: info)
                #expect(error.sqlState == "2D000")
                #expect(error.message.contains("put it alone in its file"), "\(error)")
                let outside = ["-- app-migrations: no transaction\n\(call)"]
                let migrator = try SQLMigrator(
                    SQLMigration<PostgresConnection>.numbered(outside),
                    ledger: "outside_\(call.prefix(2).lowercased())"
                )
                #expect(try migrator.migrate(db).applied == [1])
            }
        }
    }

    @Test func `a new value of an enumeration is used after the commit`() throws {
        try withConnection { db, info in
            try db.query("CREATE TYPE mood AS ENUM ('sad')")
            let scripts = [
                "ALTER TYPE mood ADD VALUE 'glad'",
                "CREATE TABLE day(mood mood DEFAULT 'glad'); INSERT INTO day DEFAULT VALUES",
            ]
            let shared = try error(of: scripts, transactions: .all, on: info)
            #expect(shared.sqlState == "55P04")
            #expect(shared.message.contains("transactions: .eachMigration"), "\(shared)")
            let alone = try error(of: [scripts.joined(separator: ";")], on: info)
            #expect(alone.sqlState == "55P04")
            #expect(alone.message.contains("in a migration of its own, before this one"), "\(alone)")
            let migrator = try SQLMigrator(SQLMigration<PostgresConnection>.numbered(scripts))
            #expect(try migrator.migrate(db).applied == [1, 2])
        }
    }

    @Test(arguments: ["", "IF NOT EXISTS "])
    func `an index that a failed attempt left invalid is named with the way out`(_ condition: String) throws {
        try withConnection { db, info in
            try db.query("CREATE TABLE people(x INT)")
            try db.query("INSERT INTO people VALUES (1), (1)")
            let file =
                "-- app-migrations: no transaction\nCREATE UNIQUE INDEX CONCURRENTLY \(condition)people_x ON people(x)"
            #expect(try error(of: [file], on: info).sqlState == "23505")
            try db.query("DELETE FROM people")
            let error = try error(of: [file], on: info)
            #expect(error.message.contains("The index people_x is invalid"), "\(error)")
            #expect(error.message.contains("DROP INDEX CONCURRENTLY people_x"), "\(error)")
            try db.query("DROP INDEX CONCURRENTLY people_x")
            let migrator = try SQLMigrator(SQLMigration<PostgresConnection>.numbered([file]))
            #expect(try migrator.migrate(db).applied == [1])
        }
    }

    @Test(
        arguments: [
            "DELETE FROM schema_migrations", "TRUNCATE public.schema_migrations",
            "UPDATE schema_migrations SET version = 9",
            "DROP TABLE schema_migrations", "ALTER TABLE schema_migrations RENAME TO old",
            "DO $$BEGIN EXECUTE 'TRUNCATE schema_migrations'; END$$",
        ]
    )
    func `a script that empties its own ledger is refused`(script: String) throws {
        try withConnection { db, info in
            let scripts = ["CREATE TABLE people(x INT)", script]
            for _ in 0..<2 {
                let error = try error(of: scripts, on: info)
                #expect(error.code == .refusedStatement, "\(error)")
                #expect(error.version == 2)
                #expect((error.line == nil) == script.hasPrefix("DO"))
                #expect(try db.query("SELECT version FROM schema_migrations") == [[1]])
            }
        }
    }

    @Test(
        arguments: [
            "version BIGINT PRIMARY KEY, name TEXT, applied_at TEXT",
            "version TEXT PRIMARY KEY, applied_at TEXT",
            "version TEXT, name TEXT, checksum TEXT, applied_at TEXT",
            "version character varying PRIMARY KEY",
            "version BIGINT, name TEXT, checksum TEXT, applied_at timestamptz",
        ]
    )
    func `a table of the app is no ledger`(columns: String) throws {
        try withConnection { db, info in
            try db.query("CREATE TABLE schema_migrations(\(columns))")
            try db.query("INSERT INTO schema_migrations(version) VALUES ('1')")
            let error = try error(of: ["CREATE TABLE people(x INT)"], on: info)
            #expect(error.code == .foreignLedger, "\(error)")
            #expect(error.description.contains("(ledger:)"))
            #expect(try db.query("SELECT to_regclass('people')") == [[nil]])
        }
    }
}
