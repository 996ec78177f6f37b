internal import AppMigrationsSQL

extension PostgresSession {
    func begin(_ lock: SQLLockWait, durably: Bool) throws(SQLError) {
        try refuseTransaction()
        do throws(SQLError) {
            // A BEGIN that failed may have begun: the task was cancelled before the answer was there. Read committed: after the
            // lock, the ledger must be seen as the last holder left it.
            try db.query("BEGIN ISOLATION LEVEL READ COMMITTED")
            try setTimeouts(lock.limit)
            if durably { try setDurable() }
            try takeAdvisoryLock(lock)
        } catch { throw rollingBack(after: error) }
    }

    /// Refuses a connection that is in a transaction.
    ///
    /// PostgreSQL only warns of the BEGIN. The COMMIT would then end the caller's transaction.
    private func refuseTransaction() throws(SQLError) {
        // It ends with its transaction, which is over at once where none was begun.
        try db.query("SELECT set_config('app_migrations.transaction', 'open', true)")
        if try db.query("SELECT current_setting('app_migrations.transaction', true)") == [["open"]] {
            throw SQLError(.alreadyInTransaction, "The connection is in a transaction already")
        }
    }

    /// Lets the transaction take as long as it takes, and wait for tables as long as for the lock.
    ///
    /// Many servers end statements and transactions that take as long as a migration does. Of a host that vanishes without a
    /// word, with the lock, the server has to hear by its own probes, and not after two hours, as is usual.
    private func setTimeouts(_ limit: Duration) throws(SQLError) {
        try db.query(
            """
            SELECT set_config(name, CASE name WHEN 'lock_timeout' THEN '\(limit.wholeMilliseconds)'
            WHEN 'tcp_keepalives_idle' THEN '10' WHEN 'tcp_keepalives_interval' THEN '5' WHEN 'tcp_keepalives_count' THEN '3'
            ELSE '0' END, true)
            FROM pg_settings WHERE name IN
            ('lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout',
            'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count')
            """
        )
    }

    /// Has the server write the commit before it returns.
    ///
    /// With synchronous_commit=off it writes it later ("Asynchronous Commit"): a state file would say what a crash of the
    /// server takes back. "on" would also wait for standby servers.
    private func setDurable() throws(SQLError) {
        try db.query(
            """
            SELECT set_config('synchronous_commit', 'local', true)
            WHERE current_setting('synchronous_commit') = 'off'
            """
        )
    }

    /// Leaves the caller's own times as they were.
    func join(_ lock: SQLLockWait) throws(SQLError) {
        guard case .text(let former) = try db.query("SELECT current_setting('lock_timeout')").first?.first
        else {
            throw SQLError(.statementFailed, "current_setting('lock_timeout') gave no text")
        }
        try db.query("SET LOCAL lock_timeout = \(lock.limit.wholeMilliseconds)")
        try takeAdvisoryLock(lock)
        try db.query("SET LOCAL lock_timeout = '\(former)'")
    }

    /// Takes a lock that PostgreSQL gives back with the end of the transaction.
    private func takeAdvisoryLock(_ wait: SQLLockWait) throws(SQLError) {
        // Any number does, so long as every version of this library takes the same.
        let number = "4155207210473316"
        if let beforeWaiting = wait.beforeWaiting {
            let attempt = "SELECT CASE WHEN pg_try_advisory_xact_lock(\(number)) THEN 1 ELSE 0 END"
            if try db.number(attempt) == 1 { return }
            try beforeWaiting()
        }
        // As a text: connections with binary cells can't read what a function gives that returns nothing.
        try lock(limit: wait.limit) { () throws(SQLError) in
            try db.query("SELECT pg_advisory_xact_lock(\(number))::text")
        }
    }
}
