import AppMigrations
import AppMigrationsSQL
import Foundation
import PostgresConnection
import Testing

/// The migrator on a connection to PostgreSQL that is awaited, with cells in text and in binary.
@Suite struct PostgresAwaitedTests {
    private typealias Migration = SQLMigration<AsyncPostgresConnection>
    private typealias Migrator = SQLMigrator<AsyncPostgresConnection>

    private let first = Migration(
        version: 1,
        sql: """
            CREATE TABLE people(id BIGINT, name TEXT DEFAULT 'a;b'); -- one; two
            CREATE FUNCTION twice(x INT) RETURNS INT LANGUAGE plpgsql AS $$ BEGIN RETURN x * 2; END; $$;
            INSERT INTO people VALUES (twice(1));
            """
    )
    private let second = Migration(version: 2) { db, _ in
        try await db.query("INSERT INTO people VALUES ($1, $2)", [2, "Ada"])
    }

    @Test(arguments: Way.direct)
    func `migrations run once, and the ledger is the one of the other shell`(_ way: Way) async throws {
        try await withAwaited(way) { db, info async throws in
            #expect(try await Migrator([first, second]).migrate(db).applied == [1, 2])
            #expect(try await Migrator([first, second]).migrate(db).applied == [])
            let status = try await Migrator([first, second]).status(db)
            #expect(status.applied == [1, 2])
            #expect(status.editedVersions == [])
            #expect(
                try await db.query("SELECT id, name FROM people ORDER BY name") == [[2, "Ada"], [2, "a;b"]]
            )
            let blocking = try SQLMigrator<PostgresConnection>([
                SQLMigration(version: 1, sql: "SELECT 1"), SQLMigration(version: 2) { _, _ in },
            ]).status(PostgresConnection(info))
            #expect(blocking.applied == [1, 2])
        }
    }

    @Test(arguments: Way.direct)
    func `no time-out ends a migration, the server looks for its host, and all is as before after it`(
        _ way: Way
    ) async throws {
        try await withAwaited(way) { db, _ async throws in
            let before = try await keepalives(of: db)
            #expect(before != [["10"], ["5"], ["3"]])
            let names = ["statement_timeout", "idle_in_transaction_session_timeout", "lock_timeout"]
            for name in names { try await db.query("SET \(name) = '77s'") }
            let look = Migration(version: 1) { db, _ async throws in
                #expect(try await db.query("SHOW statement_timeout") == [["2147483647ms"]])
                #expect(try await db.query("SHOW idle_in_transaction_session_timeout") == [["60001ms"]])
                #expect(try await db.query("SHOW lock_timeout") == [["60001ms"]])
                #expect(try await keepalives(of: db) == [["10"], ["5"], ["3"]])
            }
            try await Migrator([look]).migrate(db)
            #expect(try await keepalives(of: db) == before)
            for name in names { #expect(try await db.query("SHOW \(name)") == [["77s"]]) }
            try await db.query("BEGIN")
            let inside = Migration(version: 2) { db, _ async throws in
                for name in names { #expect(try await db.query("SHOW \(name)") == [["77s"]]) }
            }
            try await Migrator([look, inside]).migrate(db, insideTransaction: true)
            try await db.query("COMMIT")
        }
    }

    @Test(arguments: Way.direct)
    func `a wait for another host is told of before it begins`(_ way: Way)
        async throws
    {
        try await withAwaited(way) { db, info async throws in
            let other = try PostgresConnection(info)
            try other.query("BEGIN")
            try SQLMigrator<PostgresConnection>([SQLMigration(version: 1, sql: "SELECT 1")])
                .migrate(other, insideTransaction: true)
            var waits = 0
            let report = try await Migrator([Migration(version: 1, sql: "SELECT 1"), second2]).migrate(
                db,
                waiting: {
                    waits += 1
                    #expect(throws: Never.self) { try other.query("COMMIT") }
                }
            )
            #expect(report.applied == [2])
            #expect(waits == 1)
        }
    }

    private let second2 = Migration(version: 2, sql: "CREATE TABLE b(x INT)")

    @Test func `thirty-two hosts at once run each migration once`() async throws {
        try await withDatabase { info async throws in
            let migrations =
                [Migration(version: 1, sql: "CREATE TABLE log(x BIGINT)")]
                + (2...6).map { version in
                    Migration(version: version) { db, _ in
                        try await db.query("INSERT INTO log VALUES ($1)", [.integer(version)])
                    }
                }
            let count = try await sum(of: 32) {
                try await Migrator(migrations).migrate(AsyncPostgresConnection(info)).applied.count
            }
            #expect(count == 6)
            let db = try await AsyncPostgresConnection(info)
            #expect(try await db.query("SELECT x FROM log ORDER BY x") == (2...6).map { [.integer($0)] })
        }
    }

    @Test(arguments: Way.direct)
    func `a statement that fails is named with its place, and its script leaves nothing`(_ way: Way)
        async throws
    {
        try await withAwaited(way) { db, _ async throws in
            let failing = Migration(
                version: 2,
                sql: "CREATE TABLE b(x INT);\n  SELECT 1 / 0;\nCREATE TABLE c(x INT)"
            )
            let error = try #require(
                await #expect(throws: SQLError.self) { try await Migrator([first, failing]).migrate(db) }
            )
            #expect(error.applied == [1])
            #expect((error.version, error.line, error.column) == (2, 2, 3))
            #expect(try await db.query("SELECT to_regclass('b')::text") == [[nil]])
        }
    }

    @Test(
        arguments: Way.direct,
        [
            ("SET LOCAL ROLE pg_monitor; CREATE TABLE c(x INT)", SQLError.Code.readOnly, "42501"),
            ("SET LOCAL transaction_read_only = on; CREATE TABLE c(x INT)", .readOnly, "25006"),
            ("INSERT INTO people(id) VALUES ('x')", .statementFailed, "22P02"),
            ("CREATE UNIQUE INDEX i ON people(id); INSERT INTO people VALUES (2)", .statementFailed, "23505"),
        ]
    )
    func `what the server says is in the error, where the client hides it`(
        _ way: Way,
        _ row: (script: String, code: SQLError.Code, state: String)
    ) async throws {
        try await withAwaited(way) { db, _ async throws in
            let migrator = try Migrator([first, Migration(version: 2, sql: row.script)])
            let error = await #expect(throws: SQLError.self) { try await migrator.migrate(db) }
            #expect((error?.code, error?.sqlState) == (row.code, row.state))
            #expect(error?.description.contains("(SQLSTATE \(row.state)).") == true)
            #expect(error?.description.contains("PostgresError") == false)
            #expect(error?.description.contains("ry again") == false)
            if row.state == "23505" {
                #expect(error?.message.hasSuffix("\"i\". Key (id)=(2) already exists.") == true)
            }
        }
    }

    @Test func `a closure that passes over an error is told that its transaction is given up`() async throws {
        try await withAwaited { db, _ async throws in
            let closure = Migration(version: 2) { db, _ async throws in
                await #expect(throws: PostgresError.self) { try await db.query("SELECT 1 / 0") }
            }
            let error = await #expect(throws: SQLError.self) {
                try await Migrator([first, closure]).migrate(db)
            }
            #expect((error?.code, error?.sqlState) == (.transactionEnded, "25P02"))
            #expect(error?.message.contains("may have been committed") == false)
        }
    }

    @Test(arguments: Way.direct)
    func `a closure of a runner runs exactly once`(_ way: Way) async throws {
        let states = HostStates()
        defer { states.remove() }
        try await withAwaited(way) { db, info async throws in
            for host in ["a", "b"] {
                let ran = try await states.manager(of: host).whenMigrating(
                    toVersion: "2.0",
                    in: try await way.connection(info)
                ) { db, _ in
                    try await db.query("CREATE TABLE once(x INT)")
                }
                #expect(ran == (host == "a"))
            }
            #expect(try await db.query("SELECT manager, version FROM app_migrations") == [["Library", "2"]])
        }
    }

    @Test func `nothing of a migration stays in the session`() async throws {
        try await withAwaited { db, _ async throws in
            try await db.query("SET synchronous_commit = off")
            let settings = "SELECT name, setting FROM pg_settings WHERE source = 'session' ORDER BY name"
            let before = try await db.query(settings)
            try await Migrator([first, second]).migrate(db)
            #expect(try await db.query(settings) == before)
            let locks = try await db.query(
                """
                SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database
                WHERE locktype = 'advisory' AND datname = current_database()
                """
            )
            #expect(locks == [[0]])
        }
    }
}
