internal import AppMigrations
public import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Runs every statement of a text, in order, up to the first that fails.
    ///
    /// Rows that a statement returns are dropped. Parameters are refused, since nothing could be bound to
    /// them. Also refused, before anything runs: zero bytes, a `/*` without its end, and line ends of a
    /// lone carriage return.
    ///
    /// **In a transaction** the script can neither end it nor begin one, nor attach a database, nor set a
    /// pragma, which SQLite ignores there without a word; nor drop a table whose rows others refer to with
    /// `ON DELETE` while foreign keys are on, which deletes or changes those rows. Such a statement is
    /// refused before it runs, the ones before it have run: roll back. Outside of a transaction each
    /// statement is committed by itself, and a transaction that a failing script had begun is rolled back.
    ///
    /// - Throws: `SQLError` with the line and the column.
    public func execute(script: String) throws(SQLError) {
        let script = SQLScript(script)
        do throws(SQLError) {
            try script.check()
            try checkUsable()
            if hasTransaction { return try runInTransaction(script) }
            do throws(SQLError) { try run(script, nil) } catch {
                if hasTransaction { try query("ROLLBACK") }
                state.withLock { $0.endedBy = nil }
                throw error
            }
        } catch {
            throw naming(error)
        }
    }

    /// Runs a script that has been checked.
    func runInTransaction(_ script: SQLScript) throws(SQLError) {
        try withRefusals { refusals throws(SQLError) in try run(script, refusals) }
    }

    private func run(_ script: SQLScript, _ refusals: ScriptRefusals?) throws(SQLError) {
        var offset = 0
        while offset < script.count {
            if refusals != nil, !hasTransaction {
                throw script.error(
                    .transactionEnded,
                    "The transaction ended before this statement",
                    at: offset
                )
            }
            let start = script.startOfStatement(from: offset)
            let compiled: Statement?
            refusals?.isCompiling = true
            do throws(SQLError) { (compiled, offset) = try prepare(script, from: start) } catch {
                throw refusals?.refusal.map { script.error(.refusedStatement, $0, at: start) } ?? error
            }
            refusals?.isCompiling = false
            guard let statement = compiled else { continue }
            do throws(SQLError) {
                try check(statement, refusals) { script.text(from: start, to: offset) }
                while try statement.step() {}
            } catch {
                let (line, column) = script.position(at: start)
                throw error.located(script.text(from: start, to: offset), line, column)
            }
        }
    }

    /// Refuses a statement that SQLite compiles and a script may not have.
    private func check(
        _ statement: Statement,
        _ refusals: ScriptRefusals?,
        text: () -> String
    ) throws(SQLError) {
        if isBorrowed, let refusals, !refusals.allows(SQLTokens(text())), let refusal = refusals.refusal {
            throw SQLError(.refusedStatement, refusal)
        }
        if statement.parameterCount > 0 {
            let name = sqlite3_bind_parameter_name(statement.pointer, 1).map { String(cString: $0) } ?? "?"
            throw SQLError(.refusedStatement, "A script has no parameters; nothing is bound to \(name)")
        }
        if let table = refusals?.takeDroppedTable() {
            try SQLiteSession(SQLConversation(self)).checkDropping(table)
        }
    }
}
