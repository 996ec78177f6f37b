package import AppMigrationsSQL

extension SQLiteSession {
    package func check(_ script: String) throws(SQLError) {
        let script = SQLScript(script)
        try script.check()
        if isAwaited { _ = try script.awaitedStatements() }
    }

    package func statements(ofAlone script: String) throws(SQLError) -> [String] {
        throw SQLError(
            .refusedStatement,
            "SQLite runs every migration in a transaction. What it can't do in one, as VACUUM, belongs beside the migrator"
        )
    }

    package func refuseInvalidIndex(of statement: String) -> SQLWork { .nothing }

    package func isRunning(_ mark: String) -> SQLWork { .answer(false) }

    package func run(script: String) -> SQLWork {
        guard let own, !own.isBorrowed else {
            return behindSavepoint { isAwaited ? runEach(of: script) : .asking(.script(script)) }
        }
        // It refuses what would end the transaction. A savepoint would have SQLite copy every page that the script
        // changes.
        return SQLWork.asking(.script(script)).noting { () throws(SQLError) in
            if !own.hasTransaction { throw SQLError.endedTransaction }
        }
    }

    private func runEach(of script: String) -> SQLWork {
        .trying { () throws(SQLError) in
            let statements = try SQLScript(script).awaitedStatements()
            return .each(0..<statements.count) { index in
                let next = statements[index]
                return (next.droppedTable.map(checkDropping) ?? .nothing).then { .statement(next.text) }
                    .located(next.text, next.line, next.column)
            }
        }
    }

    /// Refuses to drop a table while foreign keys are on and rows of other tables would change.
    ///
    /// "If foreign key constraints are enabled when it is prepared, then the DROP TABLE command performs an
    /// implicit DELETE to remove all rows from the table prior to dropping it" (SQLite Foreign Key Support,
    /// section 5).
    func checkDropping(_ table: String) -> SQLWork {
        hasForeignKeys.whether { isOn in
            if !isOn { return .nothing }
            return SQLWork.statement(
                """
                SELECT DISTINCT child.name FROM sqlite_master AS child, pragma_foreign_key_list(child.name, 'main') AS key
                WHERE child.type = 'table' AND child.name <> ?1 COLLATE NOCASE AND key."table" = ?1 COLLATE NOCASE
                AND key.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
                """,
                [.text(table)]
            ).noting { (children: SQLRows) throws(SQLError) in
                guard case .text(let child) = children.first?.first else { return }
                throw SQLError(
                    .refusedStatement,
                    "DROP TABLE \(table) would delete or change the rows of \(child) that refer to it, since foreign"
                        + " keys are on. Turn them off before the transaction, as a migrator does outside of one"
                )
            }
        }
    }
}
