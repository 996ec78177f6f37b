internal import AppMigrationsSQL

/// A connection whose transaction holds a closure's work and the document.
///
/// Another task uses it, while the task that it belongs to does nothing but wait.
struct FleetSession: @unchecked Sendable {
    let db: any AsyncSQLConnection

    /// Runs statements of this library on the caller's actor until the deadline, also where the caller's task is cancelled.
    nonisolated(nonsending) func asking<Value: Sendable>(
        _ deadline: Deadline,
        within limit: Duration? = nil,
        _ body: @escaping @Sendable (Self, isolated (any Actor)?) async throws -> Value
    ) async throws -> Value {
        let isolation = #isolation
        return try await SQLError.telling(type(of: db)) {
            try await uncancelled { try await deadline.bound(limit) { try await body(self, isolation) } }
        }
    }

    /// Refuses a connection whose transaction the COMMIT would end: PostgreSQL only warns of a BEGIN in a transaction.
    nonisolated(nonsending) func requireNoTransaction() async throws {
        try await mark()
        if try await isMarked() {
            throw SQLError(.alreadyInTransaction, "The connection is in a transaction already")
        }
    }

    /// Begins a transaction that gives up its locks when its host sends nothing for `limit`.
    nonisolated(nonsending) func begin(_ limit: Duration) async throws {
        try await db.query("BEGIN ISOLATION LEVEL READ COMMITTED")
        try await setTimeouts(limit.wholeMilliseconds)
        try await mark()
    }

    /// Lets a statement take as long as it takes, which is longer than what a server is asked for otherwise.
    ///
    /// A host that vanishes without a word, or stands still, would keep its locks: of the former a server hears by its own probes,
    /// and not after two hours, as is usual.
    nonisolated(nonsending) private func setTimeouts(_ milliseconds: Int32) async throws {
        try await db.query(
            """
            SELECT set_config(name, CASE name WHEN 'tcp_keepalives_idle' THEN '10'
            WHEN 'tcp_keepalives_interval' THEN '5' WHEN 'tcp_keepalives_count' THEN '3'
            WHEN 'idle_in_transaction_session_timeout' THEN '\(milliseconds)' ELSE '0' END, true)
            FROM pg_settings WHERE name IN
            ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout',
            'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count')
            """
        )
    }

    // It ends with its transaction, which is over at once where none was begun.
    nonisolated(nonsending) private func mark() async throws {
        try await db.query("SELECT set_config('app_migrations.transaction', 'open', true)")
    }

    nonisolated(nonsending) func isMarked() async throws -> Bool {
        try await db.query("SELECT current_setting('app_migrations.transaction', true)") == [["open"]]
    }

    /// Refuses to write the record where the closure has ended the transaction.
    nonisolated(nonsending) func requireTransaction(waitingForLocks limit: Duration) async throws {
        if try await !isMarked() { throw SQLError(.transactionEnded, "The closure ended the transaction") }
        try await db.query("SET LOCAL lock_timeout = \(limit.wholeMilliseconds)")
    }

    nonisolated(nonsending) func rollBack() async throws { try await db.query("ROLLBACK") }

    /// Rolls back; gives the error to report, which tells of a rollback that failed too.
    ///
    /// The server ends a transaction with its connection, which takes no statement while one that wasn't answered is under way.
    nonisolated(nonsending) func rollingBack(after cause: any Error, _ deadline: Deadline) async -> any Error
    {
        do {
            if cause is Overdue { throw cause }
            try await asking(deadline) { session, _ in try await session.rollBack() }
            return cause
        } catch {
            await close(deadline)
            return cause is Overdue ? cause : RollbackFailure(cause: cause, failure: error)
        }
    }

    /// Closes the connection, for which nobody waits that doesn't answer.
    nonisolated(nonsending) func close(_ deadline: Deadline) async {
        do { try await asking(deadline) { session, _ in await session.db.close() } } catch {
            return
        }
    }

    /// True if nothing of the closure counts, and it is called again.
    func mayRepeat(after error: any Error) -> Bool {
        SQLError.isOfConcurrency((error as? SQLError)?.sqlState)
    }
}

/// A rollback that failed, after what made it necessary.
struct RollbackFailure: Error, CustomStringConvertible {
    let cause: any Error
    let failure: any Error

    var description: String { "\(cause); the connection could not be rolled back either: \(failure)" }
}

extension SQLError {
    static var otherDatabase: SQLError {
        SQLError(
            .statementFailed,
            "The connection of in: doesn't lead to the database of the fleet's store, which has to be a PostgresFleetStore"
        )
    }

    static var connectionOfStore: SQLError {
        SQLError(
            .alreadyInTransaction,
            "The connection of in: is the store's own, by which the lease is renewed meanwhile. Make another one for in:"
        )
    }
}
