internal import AppMigrationsSQL

/// Statements that PostgreSQL runs outside of a transaction only.
extension PostgresSession {
    func statements(ofAlone script: String) throws(SQLError) -> [String] {
        let statements = try PostgresStatements(script).statements.map(\.text)
        if statements.count == 1 { return statements }
        // It can run any number of times, so that nothing has to be taken back.
        if statements.count == 2, try isDropOfIndex(statements[0]) { return statements }
        throw SQLError(
            .invalidScript,
            "A script outside of a transaction has one statement, and this one has \(statements.count): after the first one a"
                + " failure could not be taken back. Only DROP INDEX CONCURRENTLY IF EXISTS may stand before it"
        )
    }

    private func isDropOfIndex(_ statement: String) throws(SQLError) -> Bool {
        var tokens = PostgresTokens(SQLScript(statement))
        for word: StaticString in ["DROP", "INDEX", "CONCURRENTLY", "IF", "EXISTS"] {
            guard try tokens.next() == .word, tokens.isWord(word) else { return false }
        }
        return true
    }

    /// The server itself tells what its connections run, so there is no claim that a dead host could leave behind.
    ///
    /// Between two statements a connection shows the last one. Ten seconds of the server's own clock are longer than any
    /// host takes from one to the next.
    func isRunning(_ mark: String) throws(SQLError) -> SQLRows {
        try db.query(
            """
            SELECT pid::text, coalesce(host(client_addr), '') FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND left(query, length($1::text)) = $1::text
            AND (state <> 'idle' OR clock_timestamp() - state_change < interval '10 seconds')
            """,
            [.text(mark)]
        )
    }
}
