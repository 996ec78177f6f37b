/// The SQL that a migrator needs for PostgreSQL.
///
/// It keeps nothing in the server's session after a transaction, because a pooler may send the next statement
/// to another session.
final class PostgresSession: SQLSession {
    let db: SQLConversation

    /// The settings of the session at BEGIN, as JSON in one value.
    var sessionSettings = [SQLValue]()

    /// The settings after the transaction's own were set, in the same form.
    var transactionSettings = [SQLValue]()

    /// The wait for locks in a transaction that this session has begun; `nil` in a transaction that the
    /// caller has begun.
    var lock: SQLLockWait?

    /// The names with their schemas of the ledgers that were found.
    ///
    /// The keys are the names that the caller passed.
    private var qualifiedNames = [String: String]()

    /// The server process that ran this session's last transaction; `nil` if there is no watch.
    var process: ServerProcess?

    init(db: SQLConversation) {
        self.db = db
        db.statementContext = .outsideTransaction
    }

    func placeholder(_ number: Int) -> String { "$\(number)" }

    /// A name with a dot has the schema before the dot and the table after it.
    func quoted(_ table: String) -> String { Self.parts(of: table).map(\.quoted).joined(separator: ".") }

    private static func parts(of table: String) -> [SQLName] {
        table.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map {
            SQLName(String($0))
        }
    }

    // PostgreSQL has no such clause. If the cluster has data checksums (the default since version 18), the
    // server reports a damaged page as an error.
    var withoutIndex: String { "" }

    var integerType: String { "BIGINT" }

    /// Searches the schemas of the search path, but not the temporary tables.
    ///
    /// PostgreSQL itself searches temporary tables first. If a temporary table has the ledger's name, a
    /// migration would be recorded there, and the record would be gone at the end of the session.
    ///
    /// If a ledger exists in a schema that isn't on the path, this throws. Otherwise each migration would run
    /// again, and be recorded in a second table.
    func columns(of table: String) throws(SQLError) -> SQLRows {
        let parts = Self.parts(of: table)
        let name = SQLValue.text(parts[parts.count - 1].text)
        let isUnqualified = parts.count == 1
        let schemas =
            isUnqualified ? "current_schemas(false)" : "ARRAY[\(SQLValue.text(parts[0].text))::name]"
        let rows = try db.query(
            """
            SELECT attname::text, format_type(atttypid, atttypmod), format('%I.%I', nspname, \(name)),
            CASE WHEN search_order IS NULL THEN nspname::text END FROM pg_attribute JOIN (
                SELECT pg_class.oid AS relation, nspname, search_order FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid
                LEFT JOIN unnest(\(schemas)) WITH ORDINALITY AS path(schema, search_order) ON schema = nspname
                WHERE relname = \(name) AND (search_order IS NOT NULL OR \(isUnqualified) AND relkind IN ('r', 'p') AND relpersistence <> 't' AND EXISTS (
                    SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname IN ('checksum', 'manager')
                )) ORDER BY search_order, nspname LIMIT 1
            ) AS found ON attrelid = relation WHERE attnum > 0 AND NOT attisdropped ORDER BY attnum
            """
        )
        guard let row = rows.first else { return rows }
        if row.count > 3, case .text(let schema) = row[3] {
            throw SQLError(
                .foreignLedger,
                "The connection's search_path has no table \(table), but the schema \(schema) has one. Name the ledger with its"
                    + " schema (\"\(schema).\(table)\"), even if it is to be a new one"
            )
        }
        if row.count > 2, case .text(let name) = row[2] { qualifiedNames[table] = name }
        return rows
    }

    /// The name of a table with its schema, for statements; `nil` if the table doesn't exist.
    func qualifiedName(of table: String) throws(SQLError) -> String? {
        if let name = qualifiedNames[table] { return name }
        _ = try columns(of: table)
        return qualifiedNames[table]
    }

    // In all schemas, because a script may name one that isn't on the search path.
    var tables: String { "SELECT relname::text FROM pg_class" }

    func check(_ script: String, isOutsideTransaction: Bool) throws(SQLError) {
        try SQLScript(script).refuseBothDirections(isPostgres: true)
        try PostgresStatements(script).refuseTransactions()
        if isOutsideTransaction { try checkCanRunOutsideTransaction(script) }
    }

    /// Runs a script, and tries it again if a table stays locked.
    ///
    /// A statement that locks a table waits for only a short time in each try. Before a new try, this rolls
    /// back to the savepoint before the script. That releases the locks that the script already has, so that
    /// others can use these tables during the pause.
    ///
    /// If other migrations run in the same transaction, there is only one try, because their locks would be
    /// held during each pause.
    func run(script: String, sharesTransaction: Bool) throws(SQLError) {
        let statements = try PostgresStatements(script).statements
        // A script that sets its own timeout keeps it. A transaction of the caller has the caller's timeout.
        guard let lock, !sharesTransaction, !script.contains("lock_timeout") else {
            return try guardingTransaction { () throws(SQLError) in
                try run(statements, sharesTransaction: sharesTransaction) { _ in }
            }
        }
        var tries = TableLockTries(within: lock.limit)
        while true {
            // True while `lock_timeout` is the short wait of a try.
            var isWaitShort = false
            do throws(SQLError) {
                return try guardingTransaction { () throws(SQLError) in
                    try run(statements, sharesTransaction: false) { next throws(SQLError) in
                        if next.locksTables == isWaitShort { return }
                        isWaitShort = next.locksTables
                        try setLockTimeout(isWaitShort ? tries.wait : lock.limit)
                    }
                    if isWaitShort { try setLockTimeout(lock.limit) }
                }
            } catch {
                guard isWaitShort, error.code == .busy, let pause = tries.pauseAfterTry() else { throw error }
                try db.query("ROLLBACK TO SAVEPOINT app_migrations_guard")
                try db.query("RELEASE SAVEPOINT app_migrations_guard")
                try lock.beforeWaiting?()
                try letOthersThrough(for: pause)
            }
        }
    }

    private func run(
        _ statements: [PostgresStatements.Statement],
        sharesTransaction: Bool,
        before: (PostgresStatements.Statement) throws(SQLError) -> Void
    ) throws(SQLError) {
        for next in statements {
            try before(next)
            do throws(SQLError) { try db.query(next.text) } catch {
                throw error.addingAdviceOnTransactions(isShared: sharesTransaction)
                    .located(inStatement: next.text, at: next.position)
            }
        }
    }

    /// Pauses by `pg_sleep` in the server, and not on this thread.
    ///
    /// The server would end a transaction in which it gets no statement for a while. A cancelled task is
    /// noticed between two statements, so each sleep takes a second at most.
    private func letOthersThrough(for pause: Duration) throws(SQLError) {
        var left = pause
        while left > .zero {
            let part = min(left, .seconds(1))
            // Cast to text, because the function returns `void`, which a client that reads binary values
            // can't decode.
            try db.query("SELECT pg_sleep(\(part.wholeMilliseconds) / 1000.0)::text")
            if db.isCancelled { throw SQLError.taskCancelled }
            left -= part
        }
    }

    /// Sets `lock_timeout` for the transaction, to an odd number like the timeouts of ``PostgresSettings``.
    func setLockTimeout(_ wait: Duration) throws(SQLError) {
        try db.query("SET LOCAL lock_timeout = \(wait.wholeMilliseconds | 1)")
    }

    func rollBack() throws(SQLError) {
        // A table that the transaction has created is gone.
        qualifiedNames = [:]
        try db.query("ROLLBACK")
        db.statementContext = .outsideTransaction
    }

    /// ``begin(_:durably:)`` sets the wait for locks of each transaction.
    func withLockTimeout(_ time: Duration, _ body: SQLOperation) throws(SQLError) { try body() }

    func withoutForeignKeys(
        _ body: (_ checking: @escaping ForeignKeyChecking) throws(SQLError) -> Void
    ) throws(SQLError) { try body(unchecked) }

    /// A transaction sets its own durability.
    ///
    /// A durable commit also writes all commits before it, because all share one log.
    func withCommits(durable isDurable: Bool, _ body: SQLOperation) throws(SQLError) { try body() }
}

extension SQLError {
    /// Adds advice to the error of a statement that PostgreSQL refuses in this transaction.
    ///
    /// `isShared` is true if other migrations run in the same transaction.
    fileprivate func addingAdviceOnTransactions(isShared: Bool) -> SQLError {
        let advice: String
        switch sqlState {
        // 25001 is active_sql_transaction. 2D000 is invalid_transaction_termination: a procedure has a
        // COMMIT.
        case "25001", "2D000":
            advice =
                "PostgreSQL runs it only outside of a transaction: put it alone in its file, below the first line"
                + " \"-- app-migrations: no transaction\""
        // 55P04 is unsafe_new_enum_value_usage.
        case "55P04" where isShared:
            advice =
                "A new value can be used after the commit: use a migrator with transactions: .eachMigration, and add the value"
                + " in a migration of its own"
        case "55P04":
            advice =
                "A new value can be used after the commit: add it in a migration of its own, before this one"
        default: return self
        }
        return with { $0.message += ". \(advice)" }
    }
}

extension SQLDialect {
    /// The dialect of PostgreSQL.
    public static var postgres: SQLDialect { SQLDialect("postgres") { PostgresSession(db: $0) } }
}
