/// The work of one migration inside its transaction, and the look at what it left.
struct SQLStepGuard<Connection: SQLConnection> {
    let db: Connection
    /// Whether foreign keys were on, so that rows that refer to none are looked for.
    let checksForeignKeys: Bool

    enum Action {
        case script(String, checksum: String)
        case code((Connection) throws -> Void)
    }

    func run(_ action: Action) throws(SQLError) {
        guard checksForeignKeys else { return try runInItsTransaction(action) }
        let before = try SQLForeignKeys.orphans(in: db)
        try runInItsTransaction(action)
        let after = try SQLForeignKeys.orphans(in: db)
        if let rows = after.excess(over: before) {
            throw SQLError(.foreignKeyViolation, "It leaves rows that refer to none: \(rows)")
        }
    }

    private func runInItsTransaction(_ action: Action) throws(SQLError) {
        switch action {
        case .script(let text, _):
            guard let own = db as? SQLiteConnection, !own.isBorrowed else {
                return try runBehindSavepoint(findingLocks: true) { try $0.execute(script: text) }
            }
            // It refuses what would end the transaction. A savepoint would have SQLite copy every page that the
            // script changes.
            try own.execute(script: text)
            if !own.hasTransaction { throw ended() }
        case .code(let run): try runBehindSavepoint(run)
        }
    }

    /// Runs `body`, and finds out whether its transaction is still the one it began in: the savepoint is gone
    /// with a transaction that ended.
    private func runBehindSavepoint(
        findingLocks: Bool = false,
        _ body: (Connection) throws -> Void
    ) throws(SQLError) {
        try SQLError.wrapping { try db.query("SAVEPOINT app_migrations_guard") }
        do {
            try body(db)
        } catch {
            throw SQLError.wrapped(error, as: .migrationFailed, findingLocks: findingLocks)
        }
        do throws(SQLError) {
            try SQLError.wrapping { try db.query("RELEASE SAVEPOINT app_migrations_guard") }
        } catch {
            if error.code == .transactionEnded { throw error }
            var ended = ended()
            ended.underlyingError = error
            throw ended
        }
    }

    private func ended() -> SQLError {
        SQLError(
            .transactionEnded,
            "The migration ended its transaction; what it did before may have been committed, and it is not recorded"
        )
    }
}
