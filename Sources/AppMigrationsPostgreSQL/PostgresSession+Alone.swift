internal import AppMigrationsSQL

/// Statements that PostgreSQL runs outside of a transaction only.
extension PostgresSession {
    func statements(ofAlone script: String) throws(SQLError) -> [String] {
        let statements = try PostgresStatements(script).statements.map(\.text)
        if statements.count == 1 { return statements }
        // It can run any number of times, so that nothing has to be taken back.
        if statements.count == 2,
            try PostgresStatements.Words(of: statements[0]).begin(
                with: "DROP",
                "INDEX",
                "CONCURRENTLY",
                "IF",
                "EXISTS"
            )
        {
            return statements
        }
        throw SQLError(
            .invalidScript,
            "A script outside of a transaction has one statement, and this one has \(statements.count): after the first one a"
                + " failure could not be taken back. Only DROP INDEX CONCURRENTLY IF EXISTS may stand before it"
        )
    }

    /// Fails where the index that a statement was to make is there and invalid.
    ///
    /// Where CREATE INDEX CONCURRENTLY fails, the server leaves the index behind: each write keeps it up to date, no query uses
    /// it, and IF NOT EXISTS passes over it.
    func refuseInvalidIndex(of statement: String) throws(SQLError) {
        guard let index = try PostgresStatements.Words(of: statement).index else { return }
        let rows = try db.query(
            """
            SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
            WHERE indrelid = to_regclass($1) AND relname = ((parse_ident($2))[1])::name AND NOT indisvalid
            """,
            [.text(index.table), .text(index.name)]
        )
        guard case .text(let name) = rows.first?.first else { return }
        throw SQLError(
            .migrationFailed,
            "The index \(name) is invalid: an attempt that failed has left it, and IF NOT EXISTS passes over it. It was not"
                + " recorded. Run DROP INDEX CONCURRENTLY \(name), or put that statement, with IF EXISTS, before this one"
        )
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
