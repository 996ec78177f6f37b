extension PostgresSession {
    func begin(_ lock: SQLLockWait, durably: Bool) throws(SQLError) {
        try refuseTransaction()
        do throws(SQLError) {
            // This is inside, because a BEGIN that fails may have begun a transaction, if the task was
            // cancelled before the answer came. It must be read committed: after getting the lock, the ledger
            // must be read as the last holder left it.
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
        // The setting is local to the transaction. Outside of a transaction, it is gone after this statement.
        try db.query("SELECT set_config('app_migrations.transaction', 'open', true)")
        if try db.query("SELECT current_setting('app_migrations.transaction', true)") == [["open"]] {
            throw SQLError.inTransaction
        }
    }

    private func readSettings() throws(SQLError) -> [SQLValue] {
        try db.query(PostgresSettings.reading).first ?? []
    }

    func restoreSettings() throws(SQLError) { try db.query(PostgresSettings.restoring, settings) }

    /// Leaves the caller's time-outs as they were.
    func join(_ lock: SQLLockWait) throws(SQLError) {
        try findProcess()
        let former = try db.query("SELECT current_setting('lock_timeout')").first ?? []
        try setLockTimeout(lock.limit)
        try takeAdvisoryLock(lock)
        try db.query("SELECT set_config('lock_timeout', $1, true)", former)
        settings = try readSettings()
        settings += settings
    }

    /// Takes the lock of a ledger, which PostgreSQL releases at the end of the transaction.
    ///
    /// Services with ledgers of their own don't wait for each other. The lock of a ledger that doesn't exist
    /// yet is one for all: nobody can know in which schema another host is about to make it.
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
        // Without a savepoint, the transaction would refuse the query for the lock's holder after an error.
        try db.query("SAVEPOINT app_migrations_lock")
        do throws(SQLError) {
            // Cast to a text, because connections with binary cells can't read the result of a function that
            // returns nothing.
            try lock(limit: wait.limit) { () throws(SQLError) in
                try db.query("SELECT pg_advisory_xact_lock(\(number))::text")
            }
        } catch {
            throw error.code == .busy ? addingHolder(of: advisoryLock, to: error) : error
        }
        try db.query("RELEASE SAVEPOINT app_migrations_lock")
    }

    /// Adds the server's process that has a lock to the error of a wait for it.
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

/// Statements that limit the settings of a script or a closure to its transaction.
///
/// A fleet's transactions send the same statements.
package enum PostgresSettings {
    /// Removes the time-outs for the transaction, and sets its wait for tables to that for the lock, if there
    /// is one.
    ///
    /// Many servers end statements and transactions that take as long as a migration. If the host with the
    /// lock vanishes, the server must find out by its own keepalive probes, and not after two hours, which is
    /// the usual default. A host that was suspended answers the probes. So the server ends its transaction
    /// when it has sent nothing for as long as others wait.
    ///
    /// If a client dies, the server runs its statement to the end, unless it checks the client's connection
    /// while the statement runs (client_connection_check_interval, since PostgreSQL 14). Only on Linux do all
    /// these versions support that.
    ///
    /// The values are unusual, so that a value that a script has set can be recognized. A script is split by
    /// the rules of `standard_conforming_strings`, so that is turned on.
    ///
    /// With synchronous_commit=off, the server writes a commit to the disk after it has returned
    /// ("Asynchronous Commit"). Then a crash of the server could undo a migration that the state file has
    /// already recorded. "on" would also wait for standby servers.
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

    /// The current settings.
    ///
    /// Two settings are not rows of pg_settings. The settings of the transaction itself are left out, because
    /// they end with it.
    private static var now: String {
        """
        (SELECT name, setting AS value FROM pg_settings WHERE source = 'session'
        AND name NOT IN ('transaction_isolation', 'transaction_read_only', 'transaction_deferrable')
        UNION ALL SELECT name, current_setting(name) FROM (VALUES ('session_authorization'), ('role')) AS names(name)) AS now
        """
    }

    package static var reading: String { "SELECT json_object_agg(name, value)::text FROM \(now)" }

    /// Restores the settings that were changed since they were read.
    ///
    /// $1 has the settings before ``times(lock:idle:durably:)``, and $2 those after it.
    ///
    /// A SET remains after the COMMIT, and on a pooler's connection it would affect other clients. A
    /// set_config to NULL is a RESET. The user is restored first, because the user has the rights to set the
    /// others.
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
