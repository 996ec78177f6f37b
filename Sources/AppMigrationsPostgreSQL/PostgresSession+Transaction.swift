internal import AppMigrationsSQL

extension PostgresSession {
    func begin(_ lock: SQLLockWait, durably: Bool) -> SQLWork {
        // Read committed: after the lock, the ledger must be seen as the last holder left it.
        refusingTransaction().then {
            // A BEGIN that failed may have begun: the task was cancelled before the answer was there.
            SQLWork.statement("BEGIN ISOLATION LEVEL READ COMMITTED").then { setTimeouts(lock.limit) }
                .then { durably ? setDurable() : .nothing }
                .then { takeAdvisoryLock(lock) }.otherwise { rollingBack(after: $0) }
        }
    }

    /// Refuses a connection that is in a transaction.
    ///
    /// PostgreSQL only warns of the BEGIN. The COMMIT would then end the caller's transaction.
    private func refusingTransaction() -> SQLWork {
        // It ends with its transaction, which is over at once where none was begun.
        SQLWork.statement("SELECT set_config('app_migrations.transaction', 'open', true)").then {
            SQLWork.statement("SELECT current_setting('app_migrations.transaction', true)")
        }.noting { (rows: SQLRows) throws(SQLError) in
            guard rows == [["open"]] else { return }
            throw SQLError(.alreadyInTransaction, "The connection is in a transaction already")
        }
    }

    /// Lets the transaction take as long as it takes, and wait for tables as long as for the lock.
    ///
    /// Many servers end statements and transactions that take as long as a migration does. Of a host that vanishes without a
    /// word, with the lock, the server has to hear by its own probes, and not after two hours, as is usual.
    private func setTimeouts(_ limit: Duration) -> SQLWork {
        .statement(
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
    private func setDurable() -> SQLWork {
        .statement(
            """
            SELECT set_config('synchronous_commit', 'local', true)
            WHERE current_setting('synchronous_commit') = 'off'
            """
        )
    }

    /// Leaves the caller's own times as they were.
    func join(_ lock: SQLLockWait) -> SQLWork {
        SQLWork.statement("SELECT current_setting('lock_timeout')").then { (rows: SQLRows) throws(SQLError) in
            guard case .text(let former) = rows.first?.first else {
                throw SQLError(.statementFailed, "current_setting('lock_timeout') gave no text")
            }
            return SQLWork.statement("SET LOCAL lock_timeout = \(lock.limit.wholeMilliseconds)")
                .then { takeAdvisoryLock(lock) }
                .then { .statement("SET LOCAL lock_timeout = '\(former)'") }
        }
    }

    /// Takes a lock that PostgreSQL gives back with the end of the transaction.
    private func takeAdvisoryLock(_ wait: SQLLockWait) -> SQLWork {
        // Any number does, so long as every version of this library takes the same.
        let number = "4155207210473316"
        // As a text: connections with binary cells can't read what a function gives that returns nothing.
        let wholeWait = {
            lock(with: .statement("SELECT pg_advisory_xact_lock(\(number))::text"), limit: wait.limit)
        }
        guard let beforeWaiting = wait.beforeWaiting else { return wholeWait() }
        return .number("SELECT CASE WHEN pg_try_advisory_xact_lock(\(number)) THEN 1 ELSE 0 END") {
            $0 == 1 ? .nothing : beforeWaiting().then(wholeWait)
        }
    }
}
