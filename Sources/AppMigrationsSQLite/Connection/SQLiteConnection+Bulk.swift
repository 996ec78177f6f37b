public import AppMigrationsSQL

extension SQLiteConnection {
    /// Runs many statements in one transaction, all or none.
    ///
    /// A statement that comes several times in a row is compiled once.
    ///
    /// - Throws: `SQLError` of the first statement that fails, with its number, counted from 1; nothing of the
    ///   others was changed.
    public func executeAll(_ statements: [(sql: String, arguments: [SQLValue])]) throws {
        try transaction {
            var last: (sql: String, statement: Statement)?
            for (number, (sql, arguments)) in zip(1..., statements) {
                let statement: Statement
                if let last, last.sql == sql {
                    statement = last.statement
                } else {
                    statement = try prepare(sql)
                }
                last = (sql, statement)
                do throws(SQLError) {
                    try statement.bind(arguments)
                    while try statement.step() {}
                } catch {
                    throw error.counted("Statement \(number)")
                }
            }
        }
    }
}
