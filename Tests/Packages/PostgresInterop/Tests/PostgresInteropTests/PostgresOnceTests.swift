import AppMigrations
import AppMigrationsSQL
import Foundation
import PostgresConnection
import Testing

/// Closures and batches of a runner, each exactly once in the life of the database.
@Suite struct PostgresOnceTests {
    private struct Failure: Error {}

    /// Hands over a connection, its text and what makes a manager of a host.
    private func withHosts(
        _ body: (PostgresConnection, String, (_ host: String) throws -> MigrationManager) throws -> Void
    ) throws {
        let states = HostStates()
        defer { states.remove() }
        try withConnection { db, info in try body(db, info, states.manager) }
    }

    @Test func `a closure of a runner runs exactly once, whatever the state says`() throws {
        try withHosts { db, _, manager in
            let failed = #expect(throws: MigrationError.self) {
                try manager("a").whenMigrating(toVersion: "2.0", in: db) { db, _ in
                    try db.query("CREATE TABLE once(x BIGINT)")
                    throw Failure()
                }
            }
            #expect(failed?.underlyingError is Failure)
            for expected in [true, false] {
                let ran = try manager("a").whenMigrating(toVersion: "2.0", in: db) { db, _ in
                    try db.query("CREATE TABLE once(x BIGINT)")
                }
                #expect(ran == expected)
                try manager("a").reset(to: "1.0")
            }
            #expect(try db.query("SELECT manager, version FROM app_migrations") == [["Library", "2"]])
            try manager("a").reset(to: "1.0", in: db)
            #expect(try db.query("SELECT manager, version FROM app_migrations").isEmpty)
        }
    }

    @Test func `a temporary table of the same name takes no record`() throws {
        let hiding = [
            "schema_migrations(version BIGINT UNIQUE NOT NULL)", "app_migrations(manager TEXT, version TEXT)",
        ]
        try withHosts { db, info, manager in
            let hide = { @Sendable (db: PostgresConnection) in
                for table in hiding { try db.query("CREATE TEMPORARY TABLE IF NOT EXISTS \(table)") }
            }
            let migrator = try SQLMigrator<PostgresConnection>(
                (1...2).map { SQLMigration(version: $0) { db, _ in try hide(db) } }
            )
            #expect(try migrator.migrate(db).applied == [1, 2])
            #expect(try manager("a").whenMigrating(toVersion: "1.9", in: db) { db, _ in try hide(db) })
            #expect(try manager("a").whenMigrating(toVersion: "2.0", in: db) { db, _ in try hide(db) })
            // Another connection has none of the temporary tables.
            let other = try PostgresConnection(info)
            #expect(try migrator.migrate(other).applied == [])
            #expect(try migrator.migrate(db).applied == [])
            #expect(try other.query("SELECT version FROM app_migrations ORDER BY 1") == [["1.9"], ["2"]])
            #expect(try !manager("b").whenMigrating(toVersion: "2.0", in: db) { _, _ in })
        }
    }

    private func add(to last: Int, _ manager: MigrationManager, _ db: PostgresConnection) throws -> Bool {
        try manager.whenMigrating(toVersion: "2.0", in: db) { db, batch, _ in
            let number = try (batch.cursor(as: Int.self) ?? 0) + 1
            try db.query("INSERT INTO log VALUES ($1)", [SQLValue(number)])
            // A statement that fails ends the transaction of its batch.
            if number == last { try db.query("SELECT 1 / 0") }
            return number == 40 ? .done : .continue(at: number)
        }
    }

    @Test func `a batch that fails is rolled back, and the next start goes on behind those before it`() throws
    {
        try withHosts { db, _, manager in
            try db.query("CREATE TABLE log(x BIGINT)")
            #expect(throws: MigrationError.self) { try add(to: 3, manager("a"), db) }
            #expect(try db.query("SELECT cursor FROM app_migrations") == [["2"]])
            #expect(try add(to: 0, manager("a"), db))
            #expect(try db.query("SELECT version, cursor FROM app_migrations") == [["2", nil]])
            #expect(try db.query("SELECT x FROM log ORDER BY x") == (1...40).map { [.integer($0)] })
        }
    }

    @Test(arguments: ["off", "remote_write"])
    func `the commit lasts when the server dies, and the setting comes back`(setting: String) throws {
        try withHosts { db, _, manager in
            try db.query("CREATE TABLE log(x TEXT)")
            // A trigger logs the setting of each transaction that writes the table.
            try db.execute(
                script: """
                    CREATE TABLE app_migrations(manager TEXT, version TEXT, cursor TEXT, PRIMARY KEY (manager, version));
                    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN INSERT INTO log VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
                    CREATE TRIGGER note AFTER INSERT OR UPDATE ON app_migrations FOR EACH ROW EXECUTE FUNCTION note();
                    """
            )
            try db.query("SET synchronous_commit = \(setting)")
            let durable = setting == "off" ? "local" : setting
            try manager("a").whenMigrating(toVersion: "1.0", in: db) { _, _ in }
            try manager("a").whenMigrating(toVersion: "2.0", in: db) { _, _, _ in .done }
            #expect(
                try db.query("SELECT x FROM log") == [durable, setting, durable, durable].map { [.text($0)] }
            )
            #expect(try db.query("SHOW synchronous_commit") == [[.text(setting)]])
        }
    }

    @Test func `a caller's transaction is refused, and stays the caller's`() throws {
        try withHosts { db, _, manager in
            try db.query("CREATE TABLE log(x BIGINT)")
            try db.query("BEGIN")
            try db.query("INSERT INTO log VALUES (1)")
            let error = #expect(throws: MigrationError.self) {
                try manager("a").whenMigrating(toVersion: "2.0", in: db) { _, _ in }
            }
            #expect((error?.underlyingError as? SQLError)?.code == .alreadyInTransaction)
            try db.query("ROLLBACK")
            #expect(try db.query("SELECT x FROM log").isEmpty)
            #expect(try manager("a").whenMigrating(toVersion: "2.0", in: db) { _, _ in })
        }
    }

    @Test func `four hosts at once share the batches, each of which runs once`() throws {
        try withHosts { db, info, manager in
            try db.query("CREATE TABLE log(x BIGINT)")
            let managers = try (0..<4).map { try manager("\($0)") }
            DispatchQueue.concurrentPerform(iterations: managers.count) { host in
                #expect(throws: Never.self) { try add(to: 0, managers[host], PostgresConnection(info)) }
            }
            #expect(try db.query("SELECT x FROM log ORDER BY x") == (1...40).map { [.integer($0)] })
            #expect(managers.allSatisfy { $0.lastRunVersion == AppVersion("2.0") })
        }
    }
}
