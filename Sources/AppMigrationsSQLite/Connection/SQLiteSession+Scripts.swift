package import AppMigrationsSQL

extension SQLiteSession {
    package func check(_ script: String) throws(SQLError) {
        let script = SQLScript(script)
        try script.check()
        if db.isAwaited { _ = try script.awaitedStatements() }
    }

    package func checkAlone(_ script: String) throws(SQLError) {
        throw SQLError(
            .refusedStatement,
            "SQLite runs every migration in a transaction. What it can't do in one, as VACUUM, belongs beside the migrator"
        )
    }

    package func runAlone(
        _ script: String,
        as name: String,
        _ lock: SQLLockWait,
        isApplied: () throws(SQLError) -> Bool,
        record: SQLRules
    ) throws(SQLError) { try checkAlone(script) }

    package func run(script: String) throws(SQLError) {
        guard let own, !own.isBorrowed else {
            return try behindSavepoint { () throws(SQLError) in
                try db.isAwaited ? runEach(of: script) : db.execute(script: script)
            }
        }
        // The script runs as it is: a savepoint would have SQLite copy every page that it changes. Statements that would end the
        // transaction are refused.
        do throws(SQLError) { try own.runInTransaction(SQLScript(script)) } catch { throw own.naming(error) }
        if !own.hasTransaction { throw SQLError.endedTransaction() }
    }

    private func runEach(of script: String) throws(SQLError) {
        for next in try SQLScript(script).awaitedStatements() {
            do throws(SQLError) {
                if let table = next.droppedTable { try checkDropping(table) }
                try db.query(next.text)
            } catch { throw error.located(next.text, next.line, next.column) }
        }
    }

    /// Refuses to drop a table while foreign keys are on and rows of other tables would change.
    ///
    /// "If foreign key constraints are enabled when it is prepared, then the DROP TABLE command performs an
    /// implicit DELETE to remove all rows from the table prior to dropping it" (SQLite Foreign Key Support,
    /// section 5).
    func checkDropping(_ table: String) throws(SQLError) {
        guard try hasForeignKeys() else { return }
        let children = try db.query(
            """
            SELECT DISTINCT child.name FROM sqlite_master AS child, pragma_foreign_key_list(child.name, 'main') AS key
            WHERE child.type = 'table' AND child.name <> ?1 COLLATE NOCASE AND key."table" = ?1 COLLATE NOCASE
            AND key.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
            """,
            [.text(table)]
        )
        guard case .text(let child) = children.first?.first else { return }
        throw SQLError(
            .refusedStatement,
            "DROP TABLE \(table) would delete or change the rows of \(child) that refer to it, since foreign"
                + " keys are on. Turn them off before the transaction, as a migrator does outside of one"
        )
    }
}
