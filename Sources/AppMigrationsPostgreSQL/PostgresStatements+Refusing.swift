internal import AppMigrationsSQL

extension PostgresStatements {
    /// Refuses what would begin or end a transaction, which is the migrator's to do.
    ///
    /// The server would commit what came before it, and then run the rest by itself.
    func refuseTransactions() throws(SQLError) {
        for statement in statements {
            guard let words = try statement.ofTransaction() else { continue }
            var error = SQLError(
                .refusedStatement,
                "A script in a transaction may not \(words): its transaction is begun and ended for it. Remove the statement"
            )
            (error.line, error.column) = (statement.line, statement.column)
            throw error
        }
    }
}

extension PostgresStatements.Statement {
    /// Whether the statement may take the lock of a table for which every reader or writer behind it waits.
    func locksTables() throws(SQLError) -> Bool {
        var tokens = PostgresTokens(SQLScript(text))
        guard try tokens.next() == .word else { return false }
        return ["ALTER", "CREATE", "DROP", "LOCK", "TRUNCATE"].contains(where: tokens.isWord)
    }

    /// The words of a statement that begins or ends a transaction; `nil` for any other one.
    ///
    /// A savepoint stays inside of its transaction.
    fileprivate func ofTransaction() throws(SQLError) -> String? {
        var tokens = PostgresTokens(SQLScript(text))
        guard try tokens.next() == .word else { return nil }
        for word: StaticString in ["BEGIN", "COMMIT", "END", "ABORT"] where tokens.isWord(word) {
            return "\(word)"
        }
        for (first, second): (StaticString, StaticString) in [
            ("START", "TRANSACTION"), ("PREPARE", "TRANSACTION"),
        ] where tokens.isWord(first) {
            return try tokens.next() == .word && tokens.isWord(second) ? "\(first) \(second)" : nil
        }
        guard tokens.isWord("ROLLBACK") else { return nil }
        while try tokens.next() == .word { if tokens.isWord("TO") { return nil } }
        return "ROLLBACK"
    }
}
