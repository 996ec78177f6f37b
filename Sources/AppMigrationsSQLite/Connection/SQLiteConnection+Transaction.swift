internal import AppMigrations
internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Runs `body` in a transaction that has the write lock from its beginning, and commits what it did.
    ///
    /// Inside a transaction it is a savepoint. If `body` throws, everything it did is rolled back and its
    /// error comes out. SQLite can end a transaction by itself: `INSERT OR ROLLBACK`, `RAISE(ROLLBACK)`, an
    /// interrupted write, a full disk ("Response To Errors Within A Transaction"). Nothing that `body` then
    /// still tries is run.
    ///
    /// - Throws: The error of `body`; `SQLError` when the transaction could not begin or commit, with the
    ///   code `SQLError.Code.transactionEnded` when it was gone by then.
    @discardableResult
    public func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        let isOuter = !(try isInTransaction)
        try query(isOuter ? "BEGIN IMMEDIATE" : "SAVEPOINT app_migrations_transaction")
        let value: Value
        do {
            value = try body()
            try checkUsable()
            if !hasTransaction { throw ended(by: "a statement in it") }
            try query(isOuter ? "COMMIT" : "RELEASE app_migrations_transaction")
        } catch {
            try undo(isOuter: isOuter)
            throw error
        }
        return value
    }

    private func undo(isOuter: Bool) throws(SQLError) {
        if isOuter {
            if hasTransaction { try query("ROLLBACK") }
            state.withLock { $0.endedBy = nil }
        } else if hasTransaction {
            try query("ROLLBACK TO app_migrations_transaction")
            try query("RELEASE app_migrations_transaction")
        }
    }

    /// "sqlite3_get_autocommit returns zero inside a transaction": the one way to know that SQLite ended one.
    package var hasTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// True if SQLite ended a transaction and no rollback has come since.
    var hasEndedTransaction: Bool { state.withLock { $0.endedBy != nil } }

    /// Refuses work after `close()`, and after SQLite ended a transaction that the caller does not know to
    /// be gone: each statement would be committed by itself.
    package func checkUsable() throws(SQLError) {
        var (isClosed, cause) = (false, nil as String?)
        state.withLock { (isClosed, cause) = ($0.isClosed, $0.endedBy) }
        if isClosed { throw closedError }
        if let cause { throw ended(by: cause) }
    }

    /// Remembers that a failed statement took its transaction with it.
    func noteFailure(_ error: SQLError, beganInTransaction: Bool) {
        if beganInTransaction, !hasTransaction { state.withLock { $0.endedBy = error.message } }
    }

    /// True if `sql` rolls a transaction back that SQLite has ended already, so that there is nothing to run.
    func acknowledgesEndedTransaction(_ sql: String) throws(SQLError) -> Bool {
        guard state.withLock({ $0.endedBy != nil && !$0.isClosed }) else { return false }
        let tokens = SQLTokens(sql)
        let end = tokens.isWord(1, "TRANSACTION") ? 2 : 1
        let isAlone = tokens.tokens.indices.dropFirst(end).allSatisfy { tokens.isSign($0, ";") }
        guard tokens.isWord(0, "ROLLBACK"), isAlone else { return false }
        state.withLock { $0.endedBy = nil }
        return true
    }

    private func ended(by cause: String) -> SQLError {
        naming(
            SQLError(.transactionEnded, "SQLite ended the transaction, or rolled it back, after: \(cause)")
        )
    }
}
