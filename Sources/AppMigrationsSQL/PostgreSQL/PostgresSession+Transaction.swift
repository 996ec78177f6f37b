extension PostgresSession {
    func begin(_ lock: SQLLockWait, durably: Bool) throws(SQLError) {
        try refuseTransaction()
        do throws(SQLError) {
            // The BEGIN is inside the `do`, because it may have begun a transaction even if it throws: the
            // task may have been cancelled before the answer came. The isolation level must be READ
            // COMMITTED. Then the ledger, which is read after getting the lock, has the rows that the last
            // holder committed.
            try db.query("BEGIN ISOLATION LEVEL READ COMMITTED")
            try findProcess()
            self.lock = lock
            sessionSettings = try readSettings()
            let idle = max(lock.limit, .seconds(60))
            try db.query(PostgresSettings.times(lock: lock.limit, idle: idle, durably: durably))
            transactionSettings = try readSettings()
            try takeAdvisoryLock(lock)
        } catch { throw rollingBack(after: error) }
    }

    func commit(_ lock: SQLLockWait) throws(SQLError) {
        try db.query("COMMIT")
        db.statementContext = .outsideTransaction
    }

    /// If there is a watch, asks the server which of its processes runs this transaction, and remembers it
    /// for the watch.
    private func findProcess() throws(SQLError) {
        guard db.isWatched else { return }
        let process = try ServerProcess(db.query(ServerProcess.query))
        self.process = process
        db.statementContext = .transaction(process)
    }

    /// Refuses a connection that is in a transaction.
    ///
    /// In a transaction, PostgreSQL only answers a second BEGIN with a warning. The migrator's COMMIT would
    /// then end the caller's transaction.
    private func refuseTransaction() throws(SQLError) {
        // The setting is local to the transaction. Outside of one, it ends with this statement.
        try db.query("SELECT set_config('app_migrations.transaction', 'open', true)")
        if try db.query("SELECT current_setting('app_migrations.transaction', true)") == [["open"]] {
            throw SQLError.inTransaction
        }
    }

    private func readSettings() throws(SQLError) -> [SQLValue] {
        try db.query(PostgresSettings.reading).first ?? []
    }

    func restoreSettings() throws(SQLError) {
        try db.query(PostgresSettings.restoring, sessionSettings + transactionSettings)
    }

    /// Takes the migrator's lock in the caller's transaction.
    ///
    /// Only `lock_timeout` is changed, and it is set back after the wait for the lock.
    func join(_ lock: SQLLockWait) throws(SQLError) {
        try findProcess()
        let former = try db.query("SELECT current_setting('lock_timeout')").first ?? []
        try setLockTimeout(lock.limit)
        try takeAdvisoryLock(lock)
        try db.query("SELECT set_config('lock_timeout', $1, true)", former)
        sessionSettings = try readSettings()
        transactionSettings = sessionSettings
    }

    /// Takes the lock of a ledger, which PostgreSQL releases at the end of the transaction.
    ///
    /// Each ledger has a lock of its own, so services with different ledgers don't wait for each other. That
    /// lock is computed from the ledger's name with its schema. If the ledger doesn't exist yet, nobody knows
    /// in which schema another host is about to create it. So all hosts first take one common lock for new
    /// ledgers.
    private func takeAdvisoryLock(_ wait: SQLLockWait) throws(SQLError) {
        guard let ledger = wait.ledger else { return try take(.ofNewTables, within: wait) }
        if let table = try qualifiedName(of: ledger) {
            return try take(PostgresLock(ofTable: table), within: wait)
        }
        try take(.ofNewTables, within: wait)
        // The host that had the lock may have created the ledger.
        if let table = try qualifiedName(of: ledger) { try take(PostgresLock(ofTable: table), within: wait) }
    }

    private func take(_ advisoryLock: PostgresLock, within wait: SQLLockWait) throws(SQLError) {
        let number = advisoryLock.number
        let attempt = "SELECT CASE WHEN pg_try_advisory_xact_lock(\(number)) THEN 1 ELSE 0 END"
        if try db.number(attempt) == 1 { return }
        try wait.beforeWaiting?()
        // If the wait for the lock fails, the transaction refuses every further statement until it is rolled
        // back to a savepoint. The query for the lock's holder is such a statement.
        try db.query("SAVEPOINT app_migrations_lock")
        do throws(SQLError) {
            // Cast to text, because the function returns `void`, which a client that reads binary values
            // can't decode.
            try lock(limit: wait.limit) { () throws(SQLError) in
                try db.query("SELECT pg_advisory_xact_lock(\(number))::text")
            }
        } catch {
            throw error.code == .busy ? addingHolder(of: advisoryLock, to: error) : error
        }
        try db.query("RELEASE SAVEPOINT app_migrations_lock")
    }

    /// Adds to the error of a wait which server process has the lock.
    private func addingHolder(of lock: PostgresLock, to error: SQLError) -> SQLError {
        do throws(SQLError) {
            try db.query("ROLLBACK TO SAVEPOINT app_migrations_lock")
            guard case .text(let holder) = try db.query(lock.holderQuery).first?.first else { return error }
            return error.with { $0.message += "; \(lock.name) is held by the server's process \(holder)" }
        } catch let failure {
            return error.adding(failure, of: "the query for the lock's holder")
        }
    }
}

/// Statements that set the timeouts of a migration's transaction, and that restore the settings of the
/// session if a script or a closure has changed them.
///
/// A fleet's transactions send the same statements.
package enum PostgresSettings {
    /// Sets the timeouts of the transaction: `lock_timeout` to `lock` (unchanged if it is `nil`), the idle
    /// timeout to `idle`, and all others to practically no limit.
    ///
    /// Many servers end statements and transactions that take as long as a migration. The timer of
    /// `transaction_timeout` (since PostgreSQL 17) has run since the BEGIN. A larger value doesn't change it,
    /// and only 0 ends it.
    ///
    /// Two limits free the lock of a host that has stopped. If the host has vanished, the server finds out by
    /// TCP keepalive probes after 25 seconds, and not after two hours, which is the usual default. A host
    /// that was suspended still answers the probes. So the server ends its transaction when it has sent no
    /// statement for as long as others wait (`idle_in_transaction_session_timeout`).
    ///
    /// If a client dies, the server runs its statement to the end, unless it checks the client's connection
    /// while the statement runs (client_connection_check_interval, since PostgreSQL 14). It is set only on
    /// Linux, because PostgreSQL 14 supports it on few other systems.
    ///
    /// The values are odd numbers of milliseconds that nobody would choose, so that a value that a script has
    /// set can be told from them. `standard_conforming_strings` is turned on, because this library splits a
    /// script by the rules for that setting.
    ///
    /// If `durably` is true and synchronous_commit is "off", it is set to "local". With "off", the server
    /// returns from a commit before the commit is on the disk ("Asynchronous Commit"). Then a crash of the
    /// server could undo a migration that the state file has already recorded. "on" would also wait for
    /// standby servers.
    package static func times(lock: Duration? = nil, idle: Duration, durably: Bool = false) -> String {
        """
        SELECT set_config(name, CASE name WHEN 'lock_timeout' THEN '\((lock ?? .zero).wholeMilliseconds | 1)'
        WHEN 'idle_in_transaction_session_timeout' THEN '\(idle.wholeMilliseconds | 1)'
        WHEN 'transaction_timeout' THEN '0' WHEN 'tcp_keepalives_idle' THEN '10' WHEN 'tcp_keepalives_interval' THEN '5' WHEN 'tcp_keepalives_count' THEN '3'
        WHEN 'client_connection_check_interval' THEN '5001' WHEN 'standard_conforming_strings' THEN 'on' WHEN 'synchronous_commit' THEN 'local' ELSE '\(Int32.max)' END, true)
        FROM pg_settings WHERE name IN
        ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout',
        'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count') OR \(lock != nil) AND name = 'lock_timeout'
        OR name = 'client_connection_check_interval' AND version() LIKE '%linux%'
        OR setting = 'off' AND (name = 'standard_conforming_strings' OR \(durably) AND name = 'synchronous_commit')
        """
    }

    /// A subquery for the settings that were changed in this session.
    ///
    /// `session_authorization` and `role` are added, because pg_settings doesn't list them. The settings of
    /// the transaction itself are left out, because they end with it.
    private static var changedSettings: String {
        """
        (SELECT name, setting AS value FROM pg_settings WHERE source = 'session'
        AND name NOT IN ('transaction_isolation', 'transaction_read_only', 'transaction_deferrable')
        UNION ALL SELECT name, current_setting(name) FROM (VALUES ('session_authorization'), ('role')) AS names(name)) AS now
        """
    }

    package static var reading: String { "SELECT json_object_agg(name, value)::text FROM \(changedSettings)" }

    /// Restores the settings that were changed since they were read.
    ///
    /// $1 has the settings before ``times(lock:idle:durably:)``, and $2 those after it.
    ///
    /// A SET of a script remains after the COMMIT, and on a pooler's connection it would affect other
    /// clients. A set_config to NULL is a RESET. The session user and the role are restored first, because
    /// the role that the script has switched to may not have the right to set the others.
    package static var restoring: String {
        """
        SELECT set_config(name, session.value, false),
        CASE WHEN migration.value <> coalesce(session.value, '') THEN set_config(name, migration.value, true) END
        FROM \(changedSettings) FULL JOIN json_each_text($2::json) AS migration(name, value) USING (name)
        LEFT JOIN json_each_text($1::json) AS session(name, value) USING (name)
        WHERE now.value IS DISTINCT FROM migration.value
        OR name = 'standard_conforming_strings' AND session.value IS DISTINCT FROM migration.value
        ORDER BY array_position(ARRAY['session_authorization', 'role'], name)
        """
    }
}
