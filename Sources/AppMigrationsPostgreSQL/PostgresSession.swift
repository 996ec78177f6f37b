@_exported public import AppMigrationsSQL

/// PostgreSQL as the migrator sees it.
///
/// Nothing of it outlives a transaction: behind a pooler of connections the next statement may go to another session.
final class PostgresSession: SQLSession {
    let db: SQLConversation

    /// The settings of the session, and those of the transaction besides, as JSON.
    var settings = [SQLValue]()

    /// The wait for locks of a transaction that this has begun; `nil` in a caller's.
    var lock: SQLLockWait?

    init(db: SQLConversation) { self.db = db }

    func placeholder(_ number: Int) -> String { "$\(number)" }

    /// A name with a point is that of a schema and of the table in it.
    func quoted(_ table: String) -> String { Self.parts(of: table).map(\.quoted).joined(separator: ".") }

    private static func parts(of table: String) -> [SQLName] {
        table.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map {
            SQLName(String($0))
        }
    }

    var integerType: String { "BIGINT" }

    var now: String { "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')" }

    /// Looks along the search path, where temporary tables come first by themselves: one of the same name would take the record
    /// of a migration with it.
    ///
    /// Where the path leads past a table of this library, each migration would run again, with a record in a second table.
    func columns(of table: String) throws(SQLError) -> SQLRows {
        let parts = Self.parts(of: table)
        let name = SQLValue.text(parts[parts.count - 1].text)
        let isBare = parts.count == 1
        let schemas = isBare ? "current_schemas(false)" : "ARRAY[\(SQLValue.text(parts[0].text))::name]"
        let rows = try db.query(
            """
            SELECT attname::text, format_type(atttypid, atttypmod), format('%I.%I', nspname, \(name)),
            CASE WHEN place IS NULL THEN nspname::text END FROM pg_attribute JOIN (
                SELECT pg_class.oid AS relation, nspname, place FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid
                LEFT JOIN unnest(\(schemas)) WITH ORDINALITY AS path(schema, place) ON schema = nspname
                WHERE relname = \(name) AND (place IS NOT NULL OR \(isBare) AND relkind IN ('r', 'p') AND relpersistence <> 't' AND EXISTS (
                    SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname IN ('checksum', 'manager')
                )) ORDER BY place, nspname LIMIT 1
            ) AS found ON attrelid = relation WHERE attnum > 0 AND NOT attisdropped ORDER BY attnum
            """
        )
        guard let row = rows.first, row.count > 3, case .text(let schema) = row[3] else { return rows }
        throw SQLError(
            .foreignLedger,
            "The connection's search_path leads to no table \(table), and the schema \(schema) has one. Name the ledger with its"
                + " schema (\"\(schema).\(table)\"), also where it is to be a new one"
        )
    }

    func has(_ table: TablesOfTexts.Table) throws(SQLError) -> Bool {
        // PostgreSQL folds the case of names without quotes and looks along its search path.
        try !db.query("SELECT 1 FROM pg_class WHERE oid = to_regclass($1)", [.text(table.text)]).isEmpty
    }

    var goesOnAfterErrors: Bool { false }

    func values(of sql: String) throws(SQLError) -> SQLRows { try db.query(sql) }

    func check(_ script: String) throws(SQLError) { try PostgresStatements(script).refuseTransactions() }

    /// Runs the script again where a table could not be had in a short time, until the waits together are as long as the lock's.
    ///
    /// All who read the table stand behind a statement that waits for it. The savepoint gives back what the script has locked
    /// before.
    func run(script: String) throws(SQLError) {
        let statements = try PostgresStatements(script).statements
        // One that sets its own wait has it.
        let lock = script.contains("lock_timeout") ? nil : lock
        var (waited, wait) = (Duration.zero, min(.seconds(2), lock?.limit ?? .zero))
        while true {
            var isShort = false
            do throws(SQLError) {
                return try behindSavepoint { () throws(SQLError) in
                    for next in statements {
                        if let lock, try PostgresStatements.Words(of: next.text).lockTables != isShort {
                            isShort.toggle()
                            try setLockTimeout(isShort ? wait : lock.limit)
                        }
                        do throws(SQLError) { try db.query(next.text) } catch {
                            throw error.hintingOutside.located(next.text, next.line, next.column)
                        }
                    }
                    if let lock, isShort { try setLockTimeout(lock.limit) }
                }
            } catch {
                waited += wait
                guard let lock, isShort, error.code == .busy, waited < lock.limit else { throw error }
                try db.query("ROLLBACK TO SAVEPOINT app_migrations_guard")
                try lock.beforeWaiting?()
                wait = min(wait * 2, lock.limit - waited)
            }
        }
    }

    func setLockTimeout(_ wait: Duration) throws(SQLError) {
        try db.query("SET LOCAL lock_timeout = \(wait.wholeMilliseconds | 1)")
    }

    func rollBack() throws(SQLError) { try db.query("ROLLBACK") }

    func waiting(_ time: Duration, _ body: SQLRules) throws(SQLError) { try body() }

    func withoutForeignKeys(
        _ body: (_ checking: @escaping SQLChecking) throws(SQLError) -> Void
    ) throws(SQLError) { try body { rules throws(SQLError) in try rules() } }

    /// The log is one for all, and a durable commit writes it up to itself: the transaction alone says what it needs.
    func lasting(durably: Bool, _ body: SQLRules) throws(SQLError) { try body() }
}

extension SQLError {
    /// This error with the way out, where a statement has failed that runs outside of a transaction only.
    fileprivate var hintingOutside: SQLError {
        guard sqlState == "25001" else { return self }
        return with {
            $0.message +=
                ". PostgreSQL runs it outside of a transaction only: alone, below the first line \"-- app-migrations: no transaction\""
        }
    }
}

/// Statements that PostgreSQL runs outside of a transaction only.
extension PostgresSession {
    func statements(ofAlone script: String) throws(SQLError) -> [String] {
        let statements = try PostgresStatements(script).statements.map(\.text)
        if statements.count == 1 { return statements }
        // It can run any number of times, so that nothing has to be taken back.
        if statements.count == 2,
            try PostgresStatements.Words(of: statements[0]).begin(
                with: "DROP",
                "INDEX",
                "CONCURRENTLY",
                "IF",
                "EXISTS"
            )
        {
            return statements
        }
        throw SQLError(
            .invalidScript,
            "A script outside of a transaction has one statement, and this one has \(statements.count): after the first one a"
                + " failure could not be taken back. Only DROP INDEX CONCURRENTLY IF EXISTS may stand before it"
        )
    }

    /// Fails where the index that a statement was to make is there and invalid.
    ///
    /// Where CREATE INDEX CONCURRENTLY fails, the server leaves the index behind: each write keeps it up to date, no query uses
    /// it, and IF NOT EXISTS passes over it.
    func refuseInvalidIndex(of statement: String) throws(SQLError) {
        guard let index = try PostgresStatements.Words(of: statement).index else { return }
        let rows = try db.query(
            """
            SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
            WHERE indrelid = to_regclass($1) AND relname = ((parse_ident($2))[1])::name AND NOT indisvalid
            """,
            [.text(index.table), .text(index.name)]
        )
        guard case .text(let name) = rows.first?.first else { return }
        throw SQLError(
            .migrationFailed,
            "The index \(name) is invalid: an attempt that failed has left it, and IF NOT EXISTS passes over it. It was not"
                + " recorded. Run DROP INDEX CONCURRENTLY \(name), or put that statement, with IF EXISTS, before this one"
        )
    }

    /// The server itself tells what its connections run, so there is no claim that a dead host could leave behind.
    ///
    /// Between two statements a connection shows the last one. Ten seconds of the server's own clock are longer than any
    /// host takes from one to the next.
    func isRunning(_ mark: String) throws(SQLError) -> SQLRows {
        try db.query(
            """
            SELECT pid::text, coalesce(host(client_addr), '') FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND left(query, length($1::text)) = $1::text
            AND (state <> 'idle' OR clock_timestamp() - state_change < interval '10 seconds')
            """,
            [.text(mark)]
        )
    }
}

extension SQLDialect {
    /// PostgreSQL.
    public static var postgres: SQLDialect { SQLDialect("postgres") { PostgresSession(db: $0) } }
}
