/// Statements that PostgreSQL runs outside of a transaction only.
extension PostgresSession {
    func statement(ofAlone script: String) throws(SQLError) -> String {
        let statements = try PostgresStatements(script).statements
        if statements.count == 1 { return statements[0].text }
        throw SQLError(
            .invalidScript,
            "A script outside of a transaction has one statement, and this one has \(statements.count): after the first one a"
                + " failure could not be taken back"
        )
    }

    /// The server itself tells what its connections run, so there is no claim that a dead host could leave behind.
    ///
    /// Between two statements a connection shows the last one. Ten seconds of the server's own clock are longer than any
    /// host takes from one to the next.
    func isRunning(_ mark: String) -> SQLWork {
        .statement(
            """
            SELECT 1 FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND left(query, length($1::text)) = $1::text
            AND (state <> 'idle' OR clock_timestamp() - state_change < interval '10 seconds')
            """,
            [.text(mark)]
        )
    }
}
