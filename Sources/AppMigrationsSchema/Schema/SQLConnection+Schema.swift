internal import AppMigrationsSQLite

extension SQLConnection {
    /// Adds the path of the database to an error, if this library opened the connection.
    func addingPath(to error: SQLError) -> SQLError {
        (self as? SQLiteConnection)?.addingPath(to: error) ?? error
    }

    /// The whole number that a query returns.
    func number(_ sql: String) throws(SQLError) -> Int64 { try SQLConversation(self).number(sql) }

    /// The strings in the first column of a query's rows.
    func texts(_ sql: String) throws(SQLError) -> [String] {
        try rows(sql).map { row throws(SQLError) in try row.text(0) }
    }

    /// Runs `body` in a savepoint, and always rolls its changes back.
    ///
    /// The savepoint is removed afterwards, even if `body` throws.
    func inRolledBackSavepoint<Value>(_ body: () throws(SQLError) -> Value) throws(SQLError) -> Value {
        try rows("SAVEPOINT app_migrations_probe")
        let value: Value
        do throws(SQLError) {
            value = try body()
        } catch {
            throw SQLConversation(self).runCleanup("the rollback", after: error) { () throws(SQLError) in
                try rollBackProbe()
            }
        }
        try rollBackProbe()
        return value
    }

    private func rollBackProbe() throws(SQLError) {
        try rows("ROLLBACK TO app_migrations_probe")
        try rows("RELEASE app_migrations_probe")
    }
}

extension SchemaObject {
    /// The object's `CREATE` statement, parsed.
    func statement() throws(SQLError) -> CreateStatement {
        guard let sql, let statement = CreateStatement(sql) else {
            throw SQLError(
                .statementFailed,
                "This library can't read the CREATE statement of the \(kind) \(name): \(sql ?? "there is none")"
            )
        }
        return statement
    }
}
