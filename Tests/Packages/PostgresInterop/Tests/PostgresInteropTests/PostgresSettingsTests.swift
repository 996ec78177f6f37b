import AppMigrationsSQL
import PostgresConnection
import Synchronization
import Testing

/// Settings that a script makes in its session, and the schema in which a ledger is looked for.
@Suite struct PostgresSettingsTests {
    private typealias Migration = SQLMigration<AsyncPostgresConnection>
    private typealias Migrator = SQLMigrator<AsyncPostgresConnection>

    private static let settings = """
        SELECT name, setting FROM pg_settings WHERE name NOT LIKE 'transaction\\_%'
        UNION ALL SELECT 'user', session_user || ' ' || current_user ORDER BY 1
        """

    private static let ledgers = """
        SELECT relnamespace::regnamespace::text FROM pg_class WHERE relname = 'schema_migrations'
        """

    /// The head of a file by pg_dump.
    private static let head = """
        SET statement_timeout = 0;
        SET lock_timeout = 0;
        SET idle_in_transaction_session_timeout = 0;
        SET client_encoding = 'UTF8';
        SET standard_conforming_strings = on;
        SELECT pg_catalog.set_config('search_path', '', false);
        SET check_function_bodies = false;
        SET xmloption = content;
        SET client_min_messages = warning;
        SET row_security = off;
        SET default_tablespace = '';
        SET default_table_access_method = heap;

        """

    @Test(arguments: zip(Way.all, [false, true, true, false]))
    func `a file with the head of a pg_dump runs once, and leaves the session as it was`(
        _ way: Way,
        _ isSet: Bool
    ) async throws {
        try await withAwaited(way) { db, info async throws in
            if isSet, !way.isPooled {
                for name in ["statement_timeout", "lock_timeout"] {
                    try await db.query("SET \(name) = '77s'")
                }
                try await db.query("SET search_path = public, pg_temp")
            }
            let before = try await db.query(Self.settings)
            let migrator = try Migrator([
                Migration(version: 1, sql: Self.head + "CREATE TABLE public.notes(credit INT);"),
                Migration(version: 2, sql: "INSERT INTO notes VALUES (100)"),
            ])
            #expect(try await migrator.migrate(db).applied == [1, 2])
            #expect(try await Set(db.query(Self.settings)).symmetricDifference(before) == [])
            #expect(try await migrator.migrate(db).applied == [])
            #expect(try await db.query("SELECT credit FROM notes") == [[100]])
            #expect(try await db.query(Self.ledgers) == [["public"]])
        }
    }

    @Test(arguments: [SQLMigrator<PostgresConnection>.Transactions.eachMigration, .all])
    func `a file with SET search_path runs once, on a connection that blocks as well`(
        _ transactions: SQLMigrator<PostgresConnection>.Transactions
    ) throws {
        try withConnection { db, _ in
            let app = """
                CREATE SCHEMA IF NOT EXISTS app; SET search_path = app;
                CREATE TABLE IF NOT EXISTS account(credit INT); INSERT INTO account VALUES (0)
                """
            let migrator = try SQLMigrator<PostgresConnection>(
                [
                    SQLMigration(version: 1, sql: app),
                    SQLMigration(version: 2, sql: "UPDATE app.account SET credit = credit + 100"),
                ],
                transactions: transactions
            )
            #expect(try migrator.migrate(db).applied == [1, 2])
            #expect(try migrator.migrate(db).applied == [])
            #expect(try db.query("SELECT credit FROM app.account") == [[100]])
            #expect(try db.query(Self.ledgers) == [["public"]])
            #expect(try db.query("SHOW search_path") == [["\"$user\", public"]])
        }
    }

    @Test(
        arguments: [
            "ROLE pg_monitor", "SESSION AUTHORIZATION pg_monitor", "statement_timeout = '1h'",
            "row_security = off",
            "session_replication_role = replica", "standard_conforming_strings = off",
            "TIME ZONE 'Asia/Tokyo'", "client_encoding = 'LATIN1'", "application_name = 'x'; RESET ALL",
        ],
        [Way.direct[1]]
    )
    func `nothing that a script or a closure sets goes on`(_ setting: String, _ way: Way) async throws {
        try await withAwaited(way) { db, _ async throws in
            try await db.query("SET application_name = 'mine'")
            let before = try await db.query(Self.settings)
            let seen = Mutex([[[SQLValue]]]())
            let look = { (version: Int64) in
                Migration(version: version) { db, _ in
                    let rows = try await db.query(Self.settings)
                    seen.withLock { $0.append(rows) }
                }
            }
            let migrations = [
                look(1), Migration(version: 2, sql: "SET \(setting)"), look(3),
                Migration(version: 4) { db, _ in
                    for part in setting.split(separator: "; ") {
                        try await db.query(part.hasPrefix("RESET") ? String(part) : "SET \(part)")
                    }
                },
                look(5),
            ]
            try await Migrator(migrations, transactions: .all).migrate(db)
            let states = seen.withLock(\.self)
            #expect(states.count == 3)
            for state in states { #expect(Set(state).symmetricDifference(states[0]) == []) }
            #expect(try await Set(db.query(Self.settings)).symmetricDifference(before) == [])
            try await db.query("BEGIN")
            try await Migrator(migrations, ledger: "other").migrate(db, insideTransaction: true)
            #expect(try await Set(db.query(Self.settings)).symmetricDifference(before) == [])
            try await db.query("COMMIT")
            #expect(try await Set(db.query(Self.settings)).symmetricDifference(before) == [])
        }
    }

    @Test func `a search_path that leads past the ledger is refused, and a ledger with its schema is found`()
        async throws
    {
        try await withAwaited { db, _ async throws in
            let migrations = [Migration(version: 1, sql: "CREATE TABLE public.a(x INT)")]
            try await Migrator(migrations).migrate(db)
            try await db.query("CREATE SCHEMA elsewhere")
            try await db.query("SET search_path = elsewhere")
            for asksOnly in [false, true] {
                let error = await #expect(throws: SQLError.self) {
                    if asksOnly {
                        _ = try await Migrator(migrations).status(db)
                    } else {
                        try await Migrator(migrations).migrate(db)
                    }
                }
                #expect(error?.code == .foreignLedger)
                #expect(
                    error?.message
                        == "The connection's search_path has no table schema_migrations, but the schema public has one."
                        + " Name the ledger with its schema (\"public.schema_migrations\"), even if it is to be a new one"
                )
            }
            #expect(
                try await Migrator(migrations, ledger: "public.schema_migrations").migrate(db).applied == []
            )
            let own = [Migration(version: 1, sql: "CREATE TABLE a(x INT)")]
            for applied: [Int64] in [[1], []] {
                let report = try await Migrator(own, ledger: "elsewhere.schema_migrations").migrate(db)
                #expect(report.applied == applied)
            }
            #expect(try await Migrator(own).migrate(db).applied == [])
            #expect(try await db.query(Self.ledgers + " ORDER BY 1") == [["elsewhere"], ["public"]])
        }
    }

    @Test func `a table of another tool in another schema is in nobody's way`() async throws {
        try await withAwaited { db, _ async throws in
            try await db.query("CREATE SCHEMA auth")
            try await db.query("CREATE TABLE auth.schema_migrations(version VARCHAR(14))")
            let migrator = try Migrator([Migration(version: 1, sql: "SELECT 1")])
            #expect(try await migrator.migrate(db).applied == [1])
        }
    }

    @Test func `a text ends where the splitter reads its end, whatever the server's default`() async throws {
        try await withAwaited { db, _ async throws in
            try await db.query("SET standard_conforming_strings = off")
            let script =
                #"CREATE TABLE paths(x TEXT); INSERT INTO paths VALUES ('C:\'); INSERT INTO paths VALUES ('b')"#
            try await Migrator([Migration(version: 1, sql: script)]).migrate(db)
            #expect(try await db.query("SELECT x FROM paths ORDER BY x") == [[#"C:\"#], ["b"]])
            #expect(try await db.query("SHOW standard_conforming_strings") == [["off"]])
        }
    }
}
