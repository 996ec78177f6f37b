/// A connection to PostgreSQL as the migrator sees it.
struct PostgresSession: SQLSession {
    let db: any SQLConnection

    func placeholder(_ number: Int) -> String { "$\(number)" }

    var schema: String { "" }

    var integerType: String { "BIGINT" }

    var now: String { "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')" }

    func columns(of table: String) throws(SQLError) -> [[SQLValue]] {
        try db.rows(
            """
            SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute
            WHERE attrelid = to_regclass(\(SQLValue.text(self.table(table)))) AND attnum > 0 AND NOT attisdropped
            """
        )
    }

    func has(_ table: TablesOfTexts.Table) throws(SQLError) -> Bool {
        // PostgreSQL folds the case of names without quotes and looks along its search path.
        try !db.rows("SELECT 1 FROM pg_class WHERE oid = to_regclass($1)", [.text(table.text)]).isEmpty
    }

    var goesOnAfterErrors: Bool { false }

    func forEachFirst(of sql: String, _ body: (SQLValue?) throws(SQLError) -> Void) throws(SQLError) {
        for row in try db.rows(sql) { try body(row.first) }
    }

    func check(_ script: SQLScript) throws(SQLError) { try script.refuseZeroBytes() }

    func run(script: String) throws(SQLError) {
        try behindSavepoint(findingLocks: true) { try db.execute(script: script) }
    }

    func begin(wait: Duration) throws(SQLError) {
        try refuseTransaction()
        // Read committed: after the lock, the ledger must be seen as the last holder left it.
        try db.rows("BEGIN ISOLATION LEVEL READ COMMITTED")
        do throws(SQLError) {
            // It stays for the statements of the migration, which may wait for tables.
            try setLockTimeout("\(wait.wholeMilliseconds)")
            try takeAdvisoryLock(wait: wait)
        } catch {
            throw rollingBack(after: error)
        }
    }

    /// Refuses a connection that is in a transaction.
    ///
    /// PostgreSQL only warns of the BEGIN. The COMMIT would then end the caller's transaction.
    private func refuseTransaction() throws(SQLError) {
        // It ends with its transaction, which is over at once where none was begun.
        try db.rows("SELECT set_config('app_migrations.transaction', 'open', true)")
        if try db.rows("SELECT current_setting('app_migrations.transaction', true)") == [["open"]] {
            throw SQLError(.alreadyInTransaction, "The connection is in a transaction already")
        }
    }

    /// Leaves the caller's own wait for locks as it was.
    func join(wait: Duration) throws(SQLError) {
        guard case .text(let former) = try db.rows("SELECT current_setting('lock_timeout')").first?.first
        else {
            throw SQLError(.statementFailed, "current_setting('lock_timeout') gave no text")
        }
        try setLockTimeout("\(wait.wholeMilliseconds)")
        try takeAdvisoryLock(wait: wait)
        try setLockTimeout("'\(former)'")
    }

    func rollBack() throws(SQLError) { try db.rows("ROLLBACK") }

    /// Takes a lock that PostgreSQL gives back with the end of the transaction.
    private func takeAdvisoryLock(wait: Duration) throws(SQLError) {
        // Any number does, so long as every version of this library takes the same.
        try lock(with: "SELECT pg_advisory_xact_lock(4155207210473316)", wait: wait)
    }

    private func setLockTimeout(_ value: String) throws(SQLError) {
        try db.rows("SET LOCAL lock_timeout = \(value)")
    }

    func waiting(_ time: Duration, _ body: () throws(SQLError) -> Void) throws(SQLError) { try body() }

    func withoutForeignKeys(_ body: (_ checks: Bool) throws(SQLError) -> Void) throws(SQLError) {
        try body(false)
    }

    func checkingReferences(_ body: () throws(SQLError) -> Void) throws(SQLError) { try body() }

    /// Runs `body` with commits that the server has written when they return.
    ///
    /// With synchronous_commit=off it writes them later ("Asynchronous Commit"): a state file would say what a crash of the
    /// server takes back.
    func durably(_ body: () throws(SQLError) -> Void) throws(SQLError) {
        guard try db.rows("SELECT current_setting('synchronous_commit')") == [["off"]] else {
            return try body()
        }
        // "on" would also wait for standby servers.
        try db.rows("SET synchronous_commit = local")
        try SQLError.running(body, undoing: "setting synchronous_commit back") { () throws(SQLError) in
            try db.rows("SET synchronous_commit = off")
        }
    }

    /// The log is one for all, and a durable commit writes it up to itself.
    func beforeDurable(_ body: () throws(SQLError) -> Void) throws(SQLError) { try body() }
}
