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
        } catch { throw naming(error) }
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
            refusals?.droppedTable = nil
            do throws(SQLError) { (compiled, offset) = try prepare(script, from: start) } catch {
                throw refusals?.refusal.map { script.error(.refusedStatement, $0, at: start) } ?? error
            }
            refusals?.isCompiling = false
            guard let statement = compiled else { continue }
            do throws(SQLError) {
                try check(statement, refusals, at: start..<offset, of: script)
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
        at range: Range<Int>,
        of script: SQLScript
    ) throws(SQLError) {
        if let refusals {
            // SQLite doesn't tell the authorizer of a VACUUM, and a borrowed connection has its owner's authorizer.
            let isAllowed =
                isBorrowed
                ? refusals.allows(SQLTokens(script.text(from: range.lowerBound, to: range.upperBound)))
                : refusals.allows(firstWord: script.firstWord(from: range.lowerBound))
            if !isAllowed, let refusal = refusals.refusal { throw SQLError(.refusedStatement, refusal) }
        }
        if statement.parameterCount > 0 {
            let name = sqlite3_bind_parameter_name(statement.pointer, 1).map { String(cString: $0) } ?? "?"
            throw SQLError(.refusedStatement, "A script has no parameters; nothing is bound to \(name)")
        }
        if let table = refusals?.droppedTable {
            try SQLiteSession(SQLConversation(self)).checkDropping(table)
        }
    }

    /// The error of the call that just failed with `result`.
    package func error(_ result: Int32) -> SQLError {
        // A borrowed connection may give primary codes only, so ask.
        let extended = sqlite3_extended_errcode(handle)
        let isOfThisCall = extended & 0xFF == result & 0xFF
        let message = String(cString: isOfThisCall ? sqlite3_errmsg(handle) : sqlite3_errstr(result))
        return naming(
            SQLError(Self.code(of: result), message).with {
                $0.extendedResultCode = isOfThisCall ? extended : result
            }
        )
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
            throw invalid("A query must not contain a zero byte", sql)
        }
        let (statement, end) = try prepare(script, from: 0)
        guard let statement else { throw invalid("A query must have a statement", sql) }
        var offset = end
        while offset < script.count {
            // A text that SQLite compiles to nothing is a blank, a comment or a semicolon.
            let (further, end) = try prepare(script, from: offset)
            if further != nil {
                throw invalid("A query must be one statement; execute(script:) takes several", sql)
            }
            offset = end
        }
        return statement
    }

    /// Compiles the statement that begins at a byte of a script; `nil` where only blanks and comments are
    /// left.
    ///
    /// - Returns: The statement, and the byte after it.
    func prepare(_ script: SQLScript, from start: Int) throws(SQLError) -> (statement: Statement?, end: Int) {
        try checkUsable()
        var pointer: OpaquePointer?
        var end = script.count
        // Without a size SQLite reads up to the zero byte and copies nothing ("sqlite3_prepare", nByte).
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
            let error = error(result)
            // A database that can't be read is met by whatever statement comes first.
            if error.code.isOfDatabase { throw error }
            let offset = Int(app_migrations_error_offset(handle))
            let place = offset < 0 ? script.startOfStatement(from: start) : start + offset
            throw error.with { ($0.line, $0.column) = script.position(at: min(place, script.count)) }
        }
        return (pointer.map { Statement($0, of: self) }, end)
    }

    func invalid(_ message: String, _ sql: String, as code: SQLError.Code = .invalidQuery) -> SQLError {
        naming(SQLError(code, message).with { $0.statement = sql })
    }
}
