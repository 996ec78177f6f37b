/// The work of one migration inside its transaction, and the look at what it left.
struct SQLStepGuard<Connection: SQLConnection> {
    let db: Connection
    /// Whether foreign keys were on, so that rows that refer to none are looked for.
    let checksForeignKeys: Bool

    func run(_ body: (Connection) throws -> Void) throws(SQLError) {
        guard checksForeignKeys else { return try runInItsTransaction(body) }
        let tables = try tableNames()
        let before = try SQLForeignKeys.orphans(in: db)
        try runInItsTransaction(body)
        let after = try SQLForeignKeys.orphans(in: db)
        if let rows = after.excess(over: before, tables: (tables, try tableNames())) {
            throw SQLError(.foreignKeyViolation, "It leaves rows that refer to none: \(rows)")
        }
    }

    private func tableNames() throws(SQLError) -> [String] {
        var names = [String]()
        for row in try SQLError.wrapping({
            try db.query("SELECT name FROM sqlite_master WHERE type = 'table'")
        }) {
            if case .text(let name) = row.first { names.append(name) }
        }
        return names
    }

    /// Runs the migration's SQL or closure, and finds out whether its transaction is still the one it began
    /// in: the savepoint is gone with a transaction that ended.
    private func runInItsTransaction(_ body: (Connection) throws -> Void) throws(SQLError) {
        try SQLError.wrapping { try db.query("SAVEPOINT app_migrations_guard") }
        try SQLError.wrapping(as: .migrationFailed) { try body(db) }
        do throws(SQLError) {
            try SQLError.wrapping { try db.query("RELEASE SAVEPOINT app_migrations_guard") }
        } catch {
            if error.code == .transactionEnded { throw error }
            var ended = SQLError(
                .transactionEnded,
                "The migration ended its transaction; what it did before may have been committed, and it is not recorded"
            )
            ended.underlyingError = error
            throw ended
        }
    }
}
