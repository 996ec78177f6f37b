/// Work on a database, as far as its next statement: what it asks, and how it goes on with what came back.
///
/// What runs it only passes statements along. So each rule is written once, for connections that block and for connections
/// that are awaited.
package enum SQLWork<Value> {
    case done(Value)
    case failed(SQLError)
    case asking(SQLRequest, (SQLAnswer) -> SQLWork<Value>)
}

/// What work asks of the connection it runs on, or of its caller.
package enum SQLRequest {
    /// One statement.
    case query(String, [SQLValue])
    /// One statement that takes something back, also in a cancelled task.
    case undo(String, [SQLValue])
    /// Any number of statements, where the connection takes them at once.
    case script(String)
    /// The closure of the caller, which knows what it is called for.
    case call
    case pause(Duration)
}

/// What came back.
package enum SQLAnswer {
    case rows([[SQLValue]])
    case failed(any Error)
}

extension SQLWork {
    /// Goes on with one of two, by how this ends.
    package func either<Next>(
        _ done: @escaping (Value) throws -> SQLWork<Next>,
        _ failed: @escaping (SQLError) throws -> SQLWork<Next>
    ) -> SQLWork<Next> {
        switch self {
        case .done(let value): .trying { try done(value) }
        case .failed(let error): .trying { try failed(error) }
        case .asking(let request, let next): .asking(request) { next($0).either(done, failed) }
        }
    }

    /// Goes on with what `next` makes of the value.
    package func then<Next>(_ next: @escaping (Value) throws -> SQLWork<Next>) -> SQLWork<Next> {
        either(next) { .failed($0) }
    }

    /// Goes on with another value.
    package func map<Next>(_ change: @escaping (Value) throws -> Next) -> SQLWork<Next> {
        either({ .done(try change($0)) }) { .failed($0) }
    }

    /// Goes on after an error.
    package func otherwise(_ handle: @escaping (SQLError) throws -> SQLWork) -> SQLWork {
        either({ .done($0) }, handle)
    }

    /// Goes on with `undo` in every case.
    ///
    /// The error of this work is the one that comes out, with a failure of `undo` added to it.
    package func undoing(_ action: String, _ undo: @escaping () -> SQLWork<Void>) -> SQLWork {
        either(
            { value in undo().uncancelled().map { value } },
            { error in
                undo().uncancelled().either({ throw error }) { throw error.adding($0, of: action) }
            }
        )
    }

    /// The same work, whose statements run in a cancelled task too.
    private func uncancelled() -> SQLWork {
        guard case .asking(let request, let next) = self else { return self }
        let goOn: (SQLAnswer) -> SQLWork = { next($0).uncancelled() }
        if case .query(let sql, let arguments) = request { return .asking(.undo(sql, arguments), goOn) }
        return .asking(request, goOn)
    }

    /// The same work with a mark before each of its statements.
    package func marked(_ mark: String) -> SQLWork {
        guard case .asking(let request, let next) = self else { return self }
        let goOn: (SQLAnswer) -> SQLWork = { next($0).marked(mark) }
        if case .query(let sql, let arguments) = request {
            return .asking(.query(mark + sql, arguments), goOn)
        }
        return .asking(request, goOn)
    }

    /// Work that begins with what can fail without a statement.
    package static func trying(_ body: () throws -> SQLWork) -> SQLWork {
        do {
            return try body()
        } catch {
            return .failed(SQLError.wrapped(error, as: .statementFailed))
        }
    }
}

extension SQLWork<Void> {
    /// Nothing to do.
    package static var nothing: SQLWork { .done(()) }

    /// One statement whose rows don't matter.
    package static func statement(_ sql: String, _ arguments: [SQLValue] = []) -> SQLWork {
        SQLWork<[[SQLValue]]>.rows(sql, arguments).map { _ in }
    }

    /// The statements of a text, handed over at once.
    package static func script(_ text: String) -> SQLWork { asking(.script(text), findingLocks: true) }

    /// The closure of the caller.
    package static var call: SQLWork { asking(.call, findingLocks: false) }

    package static func pause(_ time: Duration) -> SQLWork { asking(.pause(time), findingLocks: false) }

    private static func asking(_ request: SQLRequest, findingLocks: Bool) -> SQLWork {
        .asking(request) { answer in
            switch answer {
            case .rows: nothing
            case .failed(let error):
                .failed(SQLError.wrapped(error, as: .migrationFailed, findingLocks: findingLocks))
            }
        }
    }
}

extension SQLWork<Void> {
    /// Statements of a script, one after the other, each with its place in the script.
    package static func each(
        _ statements: ArraySlice<(text: String, line: Int, column: Int)>
    ) -> SQLWork {
        guard let next = statements.first else { return nothing }
        return statement(next.text).otherwise { error in
            var error = error
            (error.line, error.column, error.statement) = (next.line, next.column, next.text)
            throw error
        }.then { each(statements.dropFirst()) }
    }
}

extension SQLWork<[[SQLValue]]> {
    /// The rows of one statement.
    package static func rows(_ sql: String, _ arguments: [SQLValue] = []) -> SQLWork {
        .asking(.query(sql, arguments)) { answer in
            switch answer {
            case .rows(let rows): .done(rows)
            case .failed(let error):
                .failed(SQLError.wrapped(error, as: .statementFailed, findingLocks: true))
            }
        }
    }
}

extension SQLWork<Int64> {
    /// The whole number that a statement gives.
    ///
    /// A connection that gives every value as text has texts of digits.
    package static func number(_ sql: String) -> SQLWork {
        SQLWork<[[SQLValue]]>.rows(sql).map { rows in
            switch rows.first?.first {
            case .integer(let number): return number
            case .text(let text):
                if let number = Int64(text) { return number }
                fallthrough
            default: throw SQLError(.statementFailed, "\(sql) gave no number")
            }
        }
    }
}
