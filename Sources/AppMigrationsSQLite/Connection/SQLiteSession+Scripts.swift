package import AppMigrationsSQL

extension SQLiteSession {
    package func check(_ script: String) throws(SQLError) {
        let script = SQLScript(script)
        try script.check()
        if isAwaited { _ = try script.awaitedStatements() }
    }

    package func statement(ofAlone script: String) throws(SQLError) -> String {
        throw SQLError(
            .refusedStatement,
            "SQLite runs every migration in a transaction. What it can't do in one, as VACUUM, belongs beside the migrator"
        )
    }

    package func isRunning(_ mark: String) -> SQLWork<Bool> { .done(false) }

    package func run(script: String) -> SQLWork<Void> {
        guard let own, !own.isBorrowed else {
            return behindSavepoint { isAwaited ? runEach(of: SQLScript(script)) : .script(script) }
        }
        // It refuses what would end the transaction. A savepoint would have SQLite copy every page that the script
        // changes.
        return SQLWork.script(script).map { if !own.hasTransaction { throw SQLError.endedTransaction } }
    }

    private func runEach(of script: SQLScript) -> SQLWork<Void> {
        .trying { run(try script.awaitedStatements()[...]) }
    }

    private func run(_ statements: ArraySlice<SQLScript.Statement>) -> SQLWork<Void> {
        guard let next = statements.first else { return .nothing }
        let dropping = next.droppedTable.map(refusal) ?? .done(nil)
        return dropping.map { if let refusal = $0 { throw SQLError(.refusedStatement, refusal) } }
            .then { .statement(next.text) }
            .otherwise { error in
                var error = error
                (error.line, error.column, error.statement) = (next.line, next.column, next.text)
                throw error
            }
            .then { run(statements.dropFirst()) }
    }

    /// Why a table must not be dropped while foreign keys are on, or `nil` where it may be.
    ///
    /// "If foreign key constraints are enabled when it is prepared, then the DROP TABLE command performs an
    /// implicit DELETE to remove all rows from the table prior to dropping it" (SQLite Foreign Key Support,
    /// section 5).
    func refusal(ofDropping table: String) -> SQLWork<String?> {
        hasForeignKeys.then { isOn in
            if !isOn { return .done(nil) }
            return SQLWork.rows(
                """
                SELECT DISTINCT child.name FROM sqlite_master AS child, pragma_foreign_key_list(child.name) AS key
                WHERE child.type = 'table' AND child.name <> ?1 COLLATE NOCASE AND key."table" = ?1 COLLATE NOCASE
                AND key.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
                """,
                [.text(table)]
            ).map { children in
                guard case .text(let child) = children.first?.first else { return nil }
                return
                    "DROP TABLE \(table) would delete or change the rows of \(child) that refer to it, since foreign"
                    + " keys are on. Turn them off before the transaction, as a migrator does outside of one"
            }
        }
    }
}
