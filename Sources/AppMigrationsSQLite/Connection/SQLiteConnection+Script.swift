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
        do throws(SQLError) {
            try run(SQLScript(script))
        } catch {
            throw naming(error)
        }
    }

    private func run(_ script: SQLScript) throws(SQLError) {
        try script.check()
        try checkUsable()
        if hasTransaction {
            try withRefusals { refusals throws(SQLError) in try run(script, refusals) }
            return
        }
        do {
            try run(script, nil)
        } catch {
            if hasTransaction { try query("ROLLBACK") }
            state.withLock { $0.endedBy = nil }
            throw error
        }
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
            let start = try script.startOfStatement(from: offset)
            let prepared = try prepare(script, start, refusals)
            offset = prepared.end
            guard let statement = prepared.statement else { continue }
            do {
                while try statement.step() {}
            } catch {
                throw located(error, in: script, from: start, to: offset)
            }
        }
    }

    private func prepare(
        _ script: SQLScript,
        _ start: Int,
        _ refusals: ScriptRefusals?
    ) throws(SQLError) -> (statement: Statement?, end: Int) {
        let prepared: (statement: Statement?, end: Int)
        refusals?.isCompiling = true
        defer { refusals?.isCompiling = false }
        do {
            prepared = try prepare(script, from: start)
        } catch {
            guard let refusal = refusals?.refusal else { throw error }
            throw script.error(.refusedStatement, refusal, at: start)
        }
        guard let statement = prepared.statement else { return prepared }
        if isBorrowed, let refusals {
            let words = SQLTokens(script.text(from: start, to: prepared.end))
            if !refusals.allows(words), let refusal = refusals.refusal {
                throw script.error(.refusedStatement, refusal, at: start)
            }
        }
        do throws(SQLError) {
            if statement.parameterCount > 0 {
                throw SQLError(
                    .refusedStatement,
                    "A script has no parameters; nothing is bound to \(parameterName(statement))"
                )
            }
            if let table = refusals?.takeDroppedTable() {
                try SQLiteSession(SQLConversation(self)).checkDropping(table)
            }
        } catch {
            if error.code != .refusedStatement { throw error }
            throw located(error, in: script, from: start, to: prepared.end)
        }
        return prepared
    }

    private func parameterName(_ statement: Statement) -> String {
        sqlite3_bind_parameter_name(statement.pointer, 1).map { String(cString: $0) } ?? "?"
    }

    private func located(
        _ error: SQLError,
        in script: SQLScript,
        from start: Int,
        to end: Int
    ) -> SQLError {
        let (line, column) = script.position(at: start)
        return error.located(script.text(from: start, to: end), line, column)
    }
}
