import Testing

@testable import AppMigrationsSQL

/// Statements of a script on PostgreSQL that are refused before anything runs.
@Suite struct PostgresRefusalsTests {
    @Test(
        arguments: [
            "BEGIN", "begin", "START TRANSACTION READ WRITE", "COMMIT", "COMMIT AND CHAIN",
            "END",
            "ABORT", "ROLLBACK", "ROLLBACK WORK", "Rollback /* TO */ Transaction", "PREPARE TRANSACTION 'a'",
            "COMMIT PREPARED 'a'", "ROLLBACK PREPARED 'a'",
        ],
        [true, false]
    )
    func `what begins or ends a transaction is refused where it stands`(_ statement: String, isAwaited: Bool)
        async throws
    {
        let script = "CREATE TABLE b(x); -- one\n  /* two */ \(statement) ;\nSELECT 1"
        let (blocking, awaited) = (Postgres(), AwaitedPostgres())
        let error: SQLError?
        if isAwaited {
            let migrator = try SQLMigrator<AwaitedPostgres>([
                SQLMigration(version: 1, sql: "CREATE TABLE a(x)"), SQLMigration(version: 2, sql: script),
            ])
            error = await sqlError { () async throws(SQLError) in try await migrator.migrate(awaited) }
        } else {
            let migrator = try SQLMigrator<Postgres>([
                SQLMigration(version: 1, sql: "CREATE TABLE a(x)"), SQLMigration(version: 2, sql: script),
            ])
            error = try sqlError { try migrator.migrate(blocking) }
        }
        #expect(error?.code == .refusedStatement)
        #expect(error?.version == 2)
        #expect(error?.line == 2)
        #expect(error?.column == 13)
        #expect(
            error?.message.hasSuffix(
                ": its transaction is begun and ended for it. Remove the statement"
            ) == true
        )
        let statements = blocking.statements + awaited.statements
        #expect(statements.allSatisfy { $0.hasPrefix("SELECT") && $0 != "SELECT 1" }, "\(statements)")
    }

    @Test(
        arguments: [
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "set local transaction isolation level serializable",
            "SET TRANSACTION READ ONLY, ISOLATION LEVEL SERIALIZABLE",
            "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "SET transaction_isolation TO 'serializable'",
            "SET LOCAL default_transaction_isolation = 'serializable'",
            "BEGIN ISOLATION LEVEL SERIALIZABLE", "start transaction isolation level repeatable read",
        ]
    )
    func `an isolation level is refused with what is true of it`(statement: String) throws {
        for head in ["", "-- app-migrations: no transaction\n"] {
            let error = try sqlError {
                try PostgresSession(db: SQLConversation(nil)).check(
                    "\(head)SELECT 1; \(statement)",
                    isOutsideTransaction: false
                )
            }
            #expect(error.code == .refusedStatement)
            #expect(error.column == 11)
            #expect(
                error.message
                    == "A script runs at READ COMMITTED, and may not set another isolation level. Run its statements in a"
                    + " transaction of your own, in a closure of whenMigrating(toVersion:)"
            )
        }
    }

    @Test(
        arguments: [
            "SET search_path = isolation", "SET LOCAL work_mem = '64MB'",
            "SELECT 'SET TRANSACTION ISOLATION LEVEL'",
            "SAVEPOINT a", "ROLLBACK TO a", "ROLLBACK WORK TO SAVEPOINT a", "RELEASE a",
            "PREPARE a AS SELECT 1",
            "DO $$BEGIN; COMMIT; END$$", "SELECT 'COMMIT'; -- COMMIT;", "SET TRANSACTION READ ONLY",
            "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END", "\"commit\"",
            "SELECT $$\n-- migrate:down\n$$",
        ]
    )
    func `what stays inside of the transaction is not`(_ script: String) throws {
        try PostgresSession(db: SQLConversation(nil)).check(script, isOutsideTransaction: false)
    }

    @Test func `a script with the way down is refused where that begins`() throws {
        let error = try sqlError {
            try PostgresSession(db: SQLConversation(nil)).check(
                "CREATE TABLE a(x);\n-- migrate:down\nDROP TABLE a",
                isOutsideTransaction: false
            )
        }
        #expect(error.code == .invalidScript)
        #expect(error.line == 2)
    }

    @Test(
        arguments: [
            ("CREATE INDEX CONCURRENTLY a ON b(c)", "a", "b"),
            (
                "create unique index concurrently if not exists \"A\" on only x . \"B\" using gin(c)",
                "\"A\"", "x.\"B\""
            ),
            ("CREATE /* a */ INDEX CONCURRENTLY a ON b /* c */ (c)", "a", "b"),
        ]
    )
    func `the index that a statement makes is known, and its table`(
        _ sql: String,
        name: String,
        table: String
    )
        throws
    {
        let index = try #require(try PostgresStatements(sql).statements.first?.index)
        #expect((index.name, index.table) == (name, table))
    }

    @Test(
        arguments: [
            "CREATE INDEX CONCURRENTLY ON b(c)", "CREATE INDEX a ON b(c)", "VACUUM",
            "DROP INDEX CONCURRENTLY a",
            "CREATE INDEX CONCURRENTLY IF a", "REINDEX INDEX CONCURRENTLY a", "",
        ]
    )
    func `any other statement makes none`(_ sql: String) throws {
        #expect(try PostgresStatements(sql).statements.first?.index == nil)
    }

    @Test func `an index is dropped before it is made, and nothing else stands before a statement`() throws {
        let session = PostgresSession(db: SQLConversation(nil))
        let make = "CREATE INDEX CONCURRENTLY a ON b(c)"
        let drop = "DROP INDEX CONCURRENTLY IF EXISTS a"
        try session.check("\(drop); \(make);", isOutsideTransaction: true)
        for script in [
            "DROP INDEX CONCURRENTLY a; \(make)", "DROP INDEX IF EXISTS a; \(make)", "\(make); \(drop)",
            "\(drop); \(drop); \(make)",
        ] {
            #expect(throws: SQLError.self, "\(script)") {
                try session.check(script, isOutsideTransaction: true)
            }
        }
    }

    @Test func `a wait of many looks is told of at once, and then every ten seconds`() {
        // Any instant will do: what counts is the time since.
        let began = ContinuousClock.now
        #expect(PostgresSession.isReportDue(lastReport: nil, now: began))
        #expect(!PostgresSession.isReportDue(lastReport: began, now: began + .milliseconds(9_999)))
        #expect(PostgresSession.isReportDue(lastReport: began, now: began + .seconds(10)))
    }
}
