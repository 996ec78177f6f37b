import AppMigrationsSQL
import PostgresConnection
import Testing

/// A migration that waits for a table which a long statement of another session reads.
@Suite struct PostgresTableLockTests {
    private let script = """
        CREATE TABLE notes(x INT);
        ALTER TABLE people ADD COLUMN born INT;
        UPDATE people SET born = 1815;
        CREATE INDEX ON people(born)
        """

    /// Hands over two connections, of which the second reads the table in a transaction.
    private func withReader(
        _ body: (_ info: String, _ reader: PostgresConnection) async throws -> Void
    ) async throws {
        try await withDatabase { info async throws in
            let reader = try PostgresConnection(info)
            try reader.query("CREATE TABLE people(name TEXT)")
            try reader.query("INSERT INTO people VALUES ('Ada')")
            try reader.query("BEGIN")
            try reader.query("SELECT name FROM people")
            try await body(info, reader)
        }
    }

    @Test(arguments: [false, true])
    func `others read it between the tries, and the migration runs once the reader ends`(isAwaited: Bool)
        async throws
    {
        try await withReader { info, reader async throws in
            let other = try PostgresConnection(info)
            var tries = 0
            let waiting = {
                tries += 1
                #expect(throws: Never.self) {
                    try other.query("SET statement_timeout = '1min'")
                    #expect(try other.query("SELECT name FROM people") == [["Ada"]])
                    #expect(
                        try other.query(
                            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
                        )
                            != [[0]]
                    )
                    if tries == 2 { try reader.query("COMMIT") }
                }
            }
            if isAwaited {
                let db = try await AsyncPostgresConnection(info)
                let migrator = try SQLMigrator<AsyncPostgresConnection>([
                    SQLMigration(version: 1, sql: script)
                ])
                #expect(try await migrator.migrate(db, waiting: waiting).applied == [1])
                #expect(try await db.query("SELECT 1 FROM pg_settings WHERE source = 'session'") == [])
            } else {
                let migrator = try SQLMigrator<PostgresConnection>([SQLMigration(version: 1, sql: script)])
                #expect(try migrator.migrate(PostgresConnection(info), waiting: waiting).applied == [1])
            }
            #expect(tries == 2)
            #expect(try other.query("SELECT name, born FROM people") == [["Ada", 1815]])
        }
    }

    @Test(
        arguments: [
            ("ALTER TABLE people ADD COLUMN born INT", 1), ("LOCK people", 1), ("DROP TABLE people", 1),
            ("UPDATE people SET name = 'Zoë'", 0),
            ("SET LOCAL lock_timeout = '10ms'; ALTER TABLE people ADD COLUMN born INT", 0),
        ]
    )
    func `the tries end with the wait for locks, and rows are waited for once`(script: String, tries: Int)
        async throws
    {
        try await withReader { info, reader async throws in
            try reader.query("SELECT name FROM people FOR UPDATE")
            var told = 0
            let migrator = try SQLMigrator<AsyncPostgresConnection>(
                [SQLMigration(version: 1, sql: script)],
                lockTimeout: .milliseconds(2_100)
            )
            let error = await #expect(throws: SQLError.self) {
                try await migrator.migrate(AsyncPostgresConnection(info), waiting: { told += 1 })
            }
            #expect((error?.code, error?.sqlState, told) == (.busy, "55P03", tries))
        }
    }

    @Test func `readers have the table for most of the time that a script waits for it`() async throws {
        try await withReader { info, reader async throws in
            let reading = Task.detached {
                // It blocks no thread that the tests next to this one need.
                let other = try await AsyncPostgresConnection(info)
                var reads = 0
                do {
                    // A cancellation between two statements ends neither of them.
                    while !Task.isCancelled {
                        try await other.query("SELECT name FROM people")
                        reads += 1
                        try await other.query("SELECT pg_sleep(0.05)")
                    }
                } catch is CancellationError {}
                return reads
            }
            let migrator = try SQLMigrator<AsyncPostgresConnection>(
                [SQLMigration(version: 1, sql: script)],
                lockTimeout: .seconds(6)
            )
            let error = await #expect(throws: SQLError.self) {
                try await migrator.migrate(AsyncPostgresConnection(info))
            }
            #expect(error?.sqlState == "55P03")
            reading.cancel()
            let reads = try await reading.value
            // The script waits three times for a second, with pauses of one and two seconds. If it waited all the
            // time, nobody would read between its tries.
            #expect(reads > 10)
        }
    }

    @Test func `there is one try in a transaction that several migrations share`() async throws {
        try await withReader { info, reader async throws in
            var told = 0
            let migrator = try SQLMigrator<AsyncPostgresConnection>(
                [
                    SQLMigration(version: 1, sql: "CREATE TABLE other(x INT)"),
                    SQLMigration(version: 2, sql: "ALTER TABLE people ADD COLUMN born INT"),
                ],
                transactions: .all,
                lockTimeout: .seconds(2)
            )
            let error = await #expect(throws: SQLError.self) {
                try await migrator.migrate(AsyncPostgresConnection(info), waiting: { told += 1 })
            }
            #expect(error?.sqlState == "55P03" && told == 0)
        }
    }
}
