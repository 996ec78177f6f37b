extension PostgresSession {
    func begin(_ lock: SQLLockWait, durably: Bool) throws(SQLError) {
        try refuseTransaction()
        do throws(SQLError) {
            // A BEGIN that failed may have begun: the task was cancelled before the answer was there. Read committed: after the
            // lock, the ledger must be seen as the last holder left it.
            try db.query("BEGIN ISOLATION LEVEL READ COMMITTED")
            try findProcess()
            self.lock = lock
            settings = try readSettings()
            let idle = max(lock.limit, .seconds(60))
            try db.query(PostgresSettings.times(lock: lock.limit, idle: idle, durably: durably))
            settings += try readSettings()
            try takeAdvisoryLock(lock)
        } catch { throw rollingBack(after: error) }
    }

    func commit(_ lock: SQLLockWait) throws(SQLError) {
        try db.query("COMMIT")
        db.place = .outside
    }

    /// Finds out which process of the server has the transaction, if the statements in it are watched.
    private func findProcess() throws(SQLError) {
        guard db.isWatched else { return }
        let process = try ServerProcess(db.query(ServerProcess.query))
        self.process = process
        db.place = .transaction(process)
    }

    /// Refuses a connection that is in a transaction.
    ///
    /// PostgreSQL only warns of the BEGIN. The COMMIT would then end the caller's transaction.
    private func refuseTransaction() throws(SQLError) {
        // The mark is local to the transaction: outside of one it is gone after this very statement.
        try db.query("SELECT set_config('app_migrations.transaction', 'open', true)")
        if try db.query("SELECT current_setting('app_migrations.transaction', true)") == [["open"]] {
            throw SQLError.inTransaction
        }
    }

    private func readSettings() throws(SQLError) -> [SQLValue] {
        try db.query(PostgresSettings.reading).first ?? []
    }

    func restoreSettings() throws(SQLError) { try db.query(PostgresSettings.restoring, settings) }

    /// Leaves the caller's own times as they were.
    func join(_ lock: SQLLockWait) throws(SQLError) {
        try findProcess()
        let former = try db.query("SELECT current_setting('lock_timeout')").first ?? []
        try setLockTimeout(lock.limit)
        try takeAdvisoryLock(lock)
        try db.query("SELECT set_config('lock_timeout', $1, true)", former)
        settings = try readSettings()
        settings += settings
    }

    /// Takes the lock of a ledger, which PostgreSQL gives back with the end of the transaction.
    ///
    /// Services with ledgers of their own don't wait for each other. The lock of a ledger that doesn't exist yet is
    /// one for all: nobody can know in which schema another host is about to make it.
    private func takeAdvisoryLock(_ wait: SQLLockWait) throws(SQLError) {
        guard let ledger = wait.ledger else { return try take(.ofNewTables, wait) }
        if let table = try qualifiedName(of: ledger) {
            return try take(PostgresLock(ofTable: table), wait)
        }
        try take(.ofNewTables, wait)
        // The host that had the lock may have made it.
        if let table = try qualifiedName(of: ledger) { try take(PostgresLock(ofTable: table), wait) }
    }

    private func take(_ advisoryLock: PostgresLock, _ wait: SQLLockWait) throws(SQLError) {
        let number = advisoryLock.number
        let attempt = "SELECT CASE WHEN pg_try_advisory_xact_lock(\(number)) THEN 1 ELSE 0 END"
        if try db.number(attempt) == 1 { return }
        try wait.beforeWaiting?()
        // After an error the transaction answers no question about the holder without it.
        try db.query("SAVEPOINT app_migrations_lock")
        do throws(SQLError) {
            // Cast to a text, since connections with binary cells can't read the result of a function that returns nothing.
            try lock(limit: wait.limit) { () throws(SQLError) in
                try db.query("SELECT pg_advisory_xact_lock(\(number))::text")
            }
        } catch {
            throw error.code == .busy ? namingHolder(of: advisoryLock, in: error) : error
        }
        try db.query("RELEASE SAVEPOINT app_migrations_lock")
    }

    /// Adds the server's process that has a lock to the error of a wait for it.
    private func namingHolder(of lock: PostgresLock, in error: SQLError) -> SQLError {
        do throws(SQLError) {
            try db.query("ROLLBACK TO SAVEPOINT app_migrations_lock")
            guard case .text(let holder) = try db.query(lock.holderQuery).first?.first else { return error }
            return error.with { $0.message += "; \(lock.name) is held by the server's process \(holder)" }
        } catch let failure {
            return error.adding(failure, of: "the query for the lock's holder")
        }
    }
}

/// The statements that keep what a script or a closure sets in its transaction; a fleet's transactions send the same.
package enum PostgresSettings {
    /// Lets the transaction take as long as it takes, and wait for tables as long as for the lock, where there is one.
    ///
    /// Many servers end statements and transactions that take as long as a migration does. Of a host that vanishes without a
    /// word, with the lock, the server has to hear by its own probes, and not after two hours, as is usual. A host that was
    /// stopped answers them: the server ends its transaction once it has sent nothing for as long as others wait.
    ///
    /// A server runs a statement to its end although its client has died, unless it looks for the client while it runs
    /// (client_connection_check_interval, since PostgreSQL 14). Only on Linux every one of these versions can.
    ///
    /// The times are such that no script has them, by which one that a script has set shows. A script is split as it is read
    /// with `standard_conforming_strings`.
    ///
    /// With synchronous_commit=off the server writes the commit after it has returned ("Asynchronous Commit"): a state file would
    /// say what a crash of the server takes back. "on" would also wait for standby servers.
    package static func times(lock: Duration? = nil, idle: Duration, durably: Bool = false) -> String {
        """
        SELECT set_config(name, CASE name WHEN 'lock_timeout' THEN '\((lock ?? .zero).wholeMilliseconds | 1)'
        WHEN 'idle_in_transaction_session_timeout' THEN '\(idle.wholeMilliseconds | 1)'
        WHEN 'tcp_keepalives_idle' THEN '10' WHEN 'tcp_keepalives_interval' THEN '5' WHEN 'tcp_keepalives_count' THEN '3'
        WHEN 'client_connection_check_interval' THEN '5001' WHEN 'standard_conforming_strings' THEN 'on' WHEN 'synchronous_commit' THEN 'local' ELSE '\(Int32.max)' END, true)
        FROM pg_settings WHERE name IN
        ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout',
        'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count') OR \(lock != nil) AND name = 'lock_timeout'
        OR name = 'client_connection_check_interval' AND version() LIKE '%linux%'
        OR setting = 'off' AND (name = 'standard_conforming_strings' OR \(durably) AND name = 'synchronous_commit')
        """
    }

    /// The settings of this moment.
    ///
    /// Two are no rows of pg_settings, and what belongs to the transaction ends with it.
    private static var now: String {
        """
        (SELECT name, setting AS value FROM pg_settings WHERE source = 'session'
        AND name NOT IN ('transaction_isolation', 'transaction_read_only', 'transaction_deferrable')
        UNION ALL SELECT name, current_setting(name) FROM (VALUES ('session_authorization'), ('role')) AS names(name)) AS now
        """
    }

    package static var reading: String { "SELECT json_object_agg(name, value)::text FROM \(now)" }

    /// Sets back what was set since the settings were read: $1 is of before the times, $2 of behind them.
    ///
    /// A SET outlives the COMMIT: on a pooler's connection, in other clients. A set_config to NULL is RESET. The user comes first,
    /// who may set the rest.
    package static var restoring: String {
        """
        SELECT set_config(name, session.value, false),
        CASE WHEN migration.value <> coalesce(session.value, '') THEN set_config(name, migration.value, true) END
        FROM \(now) FULL JOIN json_each_text($2::json) AS migration(name, value) USING (name)
        LEFT JOIN json_each_text($1::json) AS session(name, value) USING (name)
        WHERE now.value IS DISTINCT FROM migration.value
        OR name = 'standard_conforming_strings' AND session.value IS DISTINCT FROM migration.value
        ORDER BY array_position(ARRAY['session_authorization', 'role'], name)
        """
    }
}
