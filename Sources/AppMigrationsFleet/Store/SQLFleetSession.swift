internal import AppMigrationsSQL

/// A connection whose transaction holds a closure's work and the document.
struct SQLFleetSession<Connection: AsyncSQLConnection> {
    let db: Connection
    let statements: SQLFleetStatements

    nonisolated(nonsending) func begin() async throws {
        guard statements.isPostgres else {
            // SQLite would refuse the document's write in the end, had another connection written meanwhile. A BEGIN that is
            // cancelled may have begun, and nothing tells a transaction of the caller from that one.
            try await db.undo("BEGIN IMMEDIATE")
            return
        }
        // PostgreSQL only warns of a BEGIN in a transaction. The COMMIT would then end the caller's.
        try await mark()
        if try await isMarked() {
            throw SQLError(.alreadyInTransaction, "The connection is in a transaction already")
        }
        do {
            try await db.query("BEGIN ISOLATION LEVEL READ COMMITTED")
            try await liftTimeouts()
            try await mark()
        } catch {
            // The server may have begun: what the connection writes next would be in that transaction.
            throw await rollingBack(after: error)
        }
    }

    /// Lets the transaction take as long as it takes, which is longer than what a server is asked for otherwise.
    ///
    /// The document's row may be locked. So the server looks for a host that vanishes without a word, of which it would
    /// hear after two hours otherwise.
    nonisolated(nonsending) private func liftTimeouts() async throws {
        try await db.query(
            """
            SELECT set_config(name, CASE name WHEN 'tcp_keepalives_idle' THEN '10'
            WHEN 'tcp_keepalives_interval' THEN '5' WHEN 'tcp_keepalives_count' THEN '3' ELSE '0' END, true)
            FROM pg_settings WHERE name IN
            ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout',
            'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count')
            """
        )
    }

    /// Refuses to write the record where the closure has ended the transaction.
    nonisolated(nonsending) func requireTransaction() async throws {
        if statements.isPostgres, try await !isMarked() {
            throw SQLError(.transactionEnded, "The closure ended the transaction")
        }
    }

    nonisolated(nonsending) func commit() async throws { try await db.query("COMMIT") }

    /// Rolls back; gives the error to report, which tells of a rollback that failed too.
    nonisolated(nonsending) func rollingBack(after cause: any Error) async -> any Error {
        do {
            try await db.undo("ROLLBACK")
            return cause
        } catch {
            return RollbackFailure(cause: cause, failure: error)
        }
    }

    // It ends with its transaction, which is over at once where none was begun.
    nonisolated(nonsending) private func mark() async throws {
        try await db.query("SELECT set_config('app_migrations.transaction', 'open', true)")
    }

    nonisolated(nonsending) private func isMarked() async throws -> Bool {
        try await db.query("SELECT current_setting('app_migrations.transaction', true)") == [["open"]]
    }
}

/// A rollback that failed, after what made it necessary; the server rolls back when the connection ends.
struct RollbackFailure: Error, CustomStringConvertible {
    let cause: any Error
    let failure: any Error

    var description: String { "\(cause); the connection could not be rolled back either: \(failure)" }
}

extension SQLError {
    static var otherDatabase: SQLError {
        SQLError(
            .statementFailed,
            "The connection of in: doesn't lead to the database of the fleet's store, which has to be an SQLFleetStore"
        )
    }
}
