internal import AppMigrations
public import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Runs every statement of a text, in order, up to the first that fails.
    ///
    /// Rows that a statement returns are dropped. Parameters are refused, because nothing could be bound to
    /// them. Before anything runs, the script is refused if it contains one of these:
    /// - A zero byte.
    /// - A `/*` without its `*/`.
    /// - A `--` comment with a line end that SQLite doesn't know, such as a carriage return without a line
    ///   feed.
    /// - A carriage return without a line feed, between two words.
    ///
    /// **In a transaction**, these statements are refused before they run:
    /// - A statement that ends the transaction or begins one.
    /// - A statement that attaches or detaches a database.
    /// - A statement that sets a pragma, because SQLite ignores many pragmas there without an error.
    /// - While foreign keys are on, a `DROP TABLE` of a table to which other tables refer with `ON DELETE`,
    ///   because it would delete or change their rows.
    ///
    /// If a statement is refused, the statements before it have already run. So roll the transaction back.
    ///
    /// **If no transaction is open**, SQLite commits each statement of the script as soon as it has run. The
    /// script can also begin a transaction of its own. If the script then fails, that transaction is rolled
    /// back.
    ///
    /// - Throws: `SQLError` with the line and the column.
    public func execute(script: String) throws(SQLError) {
        let script = SQLScript(script)
        do throws(SQLError) {
            try script.check()
            try checkUsable()
            if hasTransaction { return try runInTransaction(script) }
            do throws(SQLError) { try run(script) } catch {
                try rollBack()
                throw error
            }
        } catch { throw addingPath(to: error) }
    }

    /// Runs a script that has been checked.
    func runInTransaction(_ script: SQLScript) throws(SQLError) {
        try withRefusals { refusals throws(SQLError) in try run(script, refusals: refusals) }
    }

    private func run(_ script: SQLScript, refusals: ScriptRefusals? = nil) throws(SQLError) {
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
            let compiled: (statement: Statement?, end: Int)
            refusals?.isCompiling = true
            refusals?.droppedTable = nil
            do throws(SQLError) { compiled = try prepare(script, from: start) } catch {
                throw refusals?.refusal.map { script.error(.refusedStatement, $0, at: start) } ?? error
            }
            refusals?.isCompiling = false
            offset = compiled.end
            guard let statement = compiled.statement else { continue }
            do throws(SQLError) {
                try check(statement, refusals: refusals, at: start..<offset, of: script)
                while try statement.step() {}
            } catch {
                let text = script.text(from: start, to: offset)
                throw error.located(inStatement: text, at: script.position(at: start))
            }
        }
    }

    /// Refuses a statement that SQLite has compiled, but that a script may not contain.
    private func check(
        _ statement: Statement,
        refusals: ScriptRefusals?,
        at range: Range<Int>,
        of script: SQLScript
    ) throws(SQLError) {
        if let refusals {
            // SQLite doesn't report a VACUUM to the authorizer, and a borrowed connection keeps its owner's
            // authorizer.
            if isBorrowed {
                refusals.check(SQLTokens(script.text(from: range.lowerBound, to: range.upperBound)))
            } else {
                refusals.check(firstWord: script.firstWord(from: range.lowerBound))
            }
            if let refusal = refusals.refusal { throw SQLError(.refusedStatement, refusal) }
        }
        if statement.parameterCount > 0 {
            let name = sqlite3_bind_parameter_name(statement.pointer, 1).map { String(cString: $0) } ?? "?"
            throw SQLError(
                .refusedStatement,
                "A script can't have parameters. Write the value instead of \(name)"
            )
        }
        if let table = refusals?.droppedTable {
            try SQLiteSession(SQLConversation(self)).checkDropping(table)
        }
    }

    /// The error of the call that just failed with `result`.
    package func error(for result: Int32) -> SQLError {
        // On a borrowed connection, calls may return primary result codes only.
        let extended = sqlite3_extended_errcode(handle)
        let isOfThisCall = extended & 0xFF == result & 0xFF
        let message = String(cString: isOfThisCall ? sqlite3_errmsg(handle) : sqlite3_errstr(result))
        let advice = result & 0xFF == SQLITE_CORRUPT ? Self.advice(forUnusableSchema: message) : nil
        let code = advice == nil ? Self.code(of: result) : .statementFailed
        return addingPath(
            to: SQLError(code, message + (advice ?? "")).with {
                $0.extendedResultCode = isOfThisCall ? extended : result
                $0.underlyingError = Self.systemError(of: handle, after: extended, at: nil)
            }
        )
    }

    /// The advice if a schema is sound, and only this connection can't use it; `nil` for any other message.
    ///
    /// SQLite then reports `SQLITE_CORRUPT`, as for a damaged schema. "If the trusted_schema setting is off,
    /// SQL functions and virtual tables must be tagged with SQLITE_INNOCUOUS" to be used in `CHECK`
    /// constraints, default values, generated columns and indexes (PRAGMA trusted_schema).
    private static func advice(forUnusableSchema message: String) -> String? {
        guard message.hasPrefix("malformed database schema"), message.contains(") - unsafe use of ") else {
            return nil
        }
        return
            ". The schema isn't damaged, but PRAGMA trusted_schema is off on this connection. Register the function as"
            + " SQLITE_INNOCUOUS, or turn the pragma on"
    }

    private static func code(of result: Int32) -> SQLError.Code {
        switch result & 0xFF {
        case SQLITE_BUSY: Task<Never, Never>.isCancelled ? .cancelled : .busy
        case SQLITE_READONLY: .readOnly
        case SQLITE_FULL: .diskFull
        case SQLITE_INTERRUPT: .cancelled
        case SQLITE_CANTOPEN: .cannotOpen
        case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
        default: .statementFailed
        }
    }

    /// Compiles one statement.
    package func prepare(_ sql: String) throws(SQLError) -> Statement {
        let script = SQLScript(sql)
        if script.bytes[..<script.count].contains(0) {
            throw invalidQuery("A query must not contain a zero byte", sql: sql)
        }
        let (statement, end) = try prepare(script, from: 0)
        guard let statement else { throw invalidQuery("The query is empty", sql: sql) }
        var offset = end
        while offset < script.count {
            // SQLite returns no statement if the rest consists of blanks, comments and semicolons.
            let (further, end) = try prepare(script, from: offset)
            if further != nil {
                throw invalidQuery(
                    "The query has more than one statement. To run several, use execute(script:)",
                    sql: sql
                )
            }
            offset = end
        }
        return statement
    }

    /// Compiles the statement that begins at a byte of a script.
    ///
    /// - Returns: The statement, and the offset of the byte after it. The statement is `nil` if only blanks
    ///   and comments are left.
    func prepare(_ script: SQLScript, from start: Int) throws(SQLError) -> (statement: Statement?, end: Int) {
        try checkUsable()
        var pointer: OpaquePointer?
        var end = script.count
        // If no size is given, SQLite reads up to the zero byte and copies nothing ("sqlite3_prepare",
        // nByte).
        let result = script.bytes.withUnsafeBufferPointer { bytes -> Int32 in
            bytes.withMemoryRebound(to: CChar.self) { text in
                guard let base = text.baseAddress else { return SQLITE_MISUSE }
                var tail: UnsafePointer<CChar>?
                let result = sqlite3_prepare_v2(handle, base + start, -1, &pointer, &tail)
                if result == SQLITE_OK, let tail { end = tail - base }
                return result
            }
        }
        if result != SQLITE_OK {
            let error = error(for: result)
            // If the database can't be read, any first statement fails. So the error isn't about a line of
            // the script, and gets no position.
            if error.code.isOfDatabase || result & 0xFF == SQLITE_CORRUPT { throw error }
            let offset = Int(app_migrations_error_offset(handle))
            let position = offset < 0 ? script.startOfStatement(from: start) : start + offset
            throw error.located(at: script.position(at: min(position, script.count)))
        }
        recordIfBusyTimeoutPragma(script, from: start, to: end)
        return (pointer.map { Statement($0, of: self) }, end)
    }

    func invalidQuery(_ message: String, code: SQLError.Code = .invalidQuery, sql: String) -> SQLError {
        addingPath(to: SQLError(code, message).with { $0.statement = sql })
    }
}
