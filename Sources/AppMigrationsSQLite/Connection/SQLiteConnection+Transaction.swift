internal import AppMigrations
internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Runs `body` in a transaction that has the write lock from its beginning, and commits.
    ///
    /// If the connection is already in a transaction, `body` runs in a savepoint instead. If `body` throws,
    /// everything it did is rolled back and its error is thrown. SQLite can end a transaction by itself,
    /// because of `INSERT OR ROLLBACK`, `RAISE(ROLLBACK)`, an interrupted write or a full disk ("Response To
    /// Errors Within A Transaction"). After that, every further statement of `body` throws.
    ///
    /// - Throws: The error of `body`; `SQLError` if the transaction could not begin or commit, with the code
    ///   `SQLError.Code.transactionEnded` if SQLite had ended it.
    @discardableResult
    public func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        let isOuter = !(try isInTransaction)
        try query(isOuter ? "BEGIN IMMEDIATE" : "SAVEPOINT app_migrations_transaction")
        let value: Value
        do {
            value = try body()
            try checkUsable()
            if !hasTransaction {
                let message =
                    "The transaction ended before the closure returned. Either the closure ran COMMIT or ROLLBACK, or a"
                    + " statement of another library failed and SQLite rolled back"
                throw addingPath(to: SQLError(.transactionEnded, message))
            }
            try query(isOuter ? "COMMIT" : "RELEASE app_migrations_transaction")
        } catch {
            try undo(isOuter: isOuter)
            throw error
        }
        return value
    }

    private func undo(isOuter: Bool) throws(SQLError) {
        if isOuter {
            try rollBack()
        } else if needsRollback {
            try query("ROLLBACK TO app_migrations_transaction")
            try query("RELEASE app_migrations_transaction")
        }
    }

    /// True if a transaction is open.
    ///
    /// Unlike ``isInTransaction``, this doesn't check whether the connection is closed. Don't call it on a
    /// closed connection.
    ///
    /// `sqlite3_get_autocommit` returns zero inside a transaction. No other function shows that SQLite has
    /// ended a transaction by itself.
    package var hasTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Rolls back the transaction if there is one, or acknowledges that SQLite has ended it.
    package func rollBack() throws(SQLError) {
        if acknowledgeEndedTransaction() { return }
        if needsRollback { try query("ROLLBACK") }
    }

    /// True if a transaction is open and the connection isn't closed.
    ///
    /// When a connection is closed, SQLite rolls its transaction back. SQLite may then have freed the
    /// connection, so ``hasTransaction`` must not be called.
    private var needsRollback: Bool {
        var isNeeded = false
        unlessClosed { isNeeded = hasTransaction }
        return isNeeded
    }

    /// Allows statements again after SQLite ended a transaction by itself.
    ///
    /// Returns false if SQLite didn't end one.
    private func acknowledgeEndedTransaction() -> Bool {
        state.withLock { state in
            if state.endedBy == nil { return false }
            state.endedBy = nil
            return true
        }
    }

    /// Throws if the connection is closed, or if SQLite has ended a transaction by itself and the caller
    /// hasn't rolled back yet.
    ///
    /// Without this, the caller would go on, and each statement would be committed by itself.
    package func checkUsable() throws(SQLError) {
        // Usually one question is enough. Both values in a tuple would need its type, which takes as long to
        // build, in the first call of a process, as a statement.
        if state.withLock({ !$0.isClosed && $0.endedBy == nil }) { return }
        guard let cause = state.withLock({ $0.isClosed ? nil : $0.endedBy }) else { throw closedError }
        let message = "SQLite ended the transaction after this error: \(cause)"
        throw addingPath(to: SQLError(.transactionEnded, message))
    }

    /// Records the error of a statement if SQLite has ended its transaction.
    func recordFailure(_ error: SQLError, beganInTransaction: Bool) {
        if beganInTransaction, !hasTransaction { state.withLock { $0.endedBy = error.message } }
    }

    /// If SQLite has ended the transaction and `sql` is a `ROLLBACK`, clears the recorded error and returns
    /// true.
    ///
    /// Then `sql` isn't run, because SQLite would answer that no transaction is active.
    func handleRollbackAfterEndedTransaction(_ sql: String) throws(SQLError) -> Bool {
        guard state.withLock({ $0.endedBy != nil && !$0.isClosed }) else { return false }
        let tokens = SQLTokens(sql)
        let end = tokens.isWord(1, "TRANSACTION") ? 2 : 1
        let isAlone = tokens.tokens.indices.dropFirst(end).allSatisfy { tokens.isSign($0, ";") }
        return tokens.isWord(0, "ROLLBACK") && isAlone && acknowledgeEndedTransaction()
    }
}
