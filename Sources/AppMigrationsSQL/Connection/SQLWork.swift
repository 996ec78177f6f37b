/// Work on a database: what it asks, and how it goes on with what came back.
///
/// What runs it only passes statements along. So each rule is written once, for connections that block and for connections
/// that are awaited.
///
/// Work gives rows and nothing else, and what it finds out besides is noted in an object. A type for each value would have the
/// compiler write all of this again for each pair of them.
package indirect enum SQLWork {
    case done(SQLRows)
    case failed(SQLError)
    case asking(SQLRequest)
    case followed(SQLWork, by: SQLContinuation)
}

package typealias SQLRows = [[SQLValue]]

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

/// How work goes on after other work.
package enum SQLContinuation {
    case either(SQLWork.AfterRows?, SQLWork.AfterError?)
    /// Ends a part whose statements run in a cancelled task too.
    case uncancelled
    /// Ends a part whose statements have a mark, which stands here before that part has begun.
    case marked(String)
}

extension SQLWork {
    package typealias AfterRows = (SQLRows) throws(SQLError) -> SQLWork
    package typealias AfterError = (SQLError) throws(SQLError) -> SQLWork
    package typealias Around = (_ body: @escaping () -> SQLWork) -> SQLWork

    /// Goes on with one of two, by how this ends.
    @inline(never)
    package func either(_ done: @escaping AfterRows, _ failed: @escaping AfterError) -> SQLWork {
        .followed(self, by: .either(done, failed))
    }

    /// Goes on with what `next` makes of the rows.
    @inline(never)
    package func then(_ next: @escaping AfterRows) -> SQLWork { .followed(self, by: .either(next, nil)) }

    @inline(never)
    package func then(_ next: @escaping () throws(SQLError) -> SQLWork) -> SQLWork {
        then { (_: SQLRows) throws(SQLError) in try next() }
    }

    /// Goes on with what `next` makes of an answer, which is yes where there are rows.
    @inline(never)
    package func whether(_ next: @escaping (Bool) throws(SQLError) -> SQLWork) -> SQLWork {
        then { (rows: SQLRows) throws(SQLError) in try next(!rows.isEmpty) }
    }

    /// Notes something of the rows, which stay what this gives.
    @inline(never)
    package func noting(_ note: @escaping (SQLRows) throws(SQLError) -> Void) -> SQLWork {
        then { (rows: SQLRows) throws(SQLError) in
            try note(rows)
            return .done(rows)
        }
    }

    @inline(never)
    package func noting(_ note: @escaping () throws(SQLError) -> Void) -> SQLWork {
        noting { (_: SQLRows) throws(SQLError) in try note() }
    }

    /// Goes on after an error.
    @inline(never)
    package func otherwise(_ handle: @escaping AfterError) -> SQLWork {
        .followed(self, by: .either(nil, handle))
    }

    /// Changes the error.
    @inline(never)
    package func failing(_ change: @escaping (SQLError) -> SQLError) -> SQLWork {
        otherwise { (error: SQLError) throws(SQLError) in .failed(change(error)) }
    }

    /// Goes on with `undo` in every case.
    ///
    /// The error of this work is the one that comes out, with a failure of `undo` added to it.
    @inline(never)
    package func undoing(_ action: String, _ undo: @escaping () -> SQLWork) -> SQLWork {
        let undone = { SQLWork.followed(undo(), by: .uncancelled) }
        return either(
            { (rows: SQLRows) throws(SQLError) in undone().then { .done(rows) } },
            { (error: SQLError) throws(SQLError) in
                undone().either({ _ in .failed(error) }, { .failed(error.adding($0, of: action)) })
            }
        )
    }

    /// The same work with a mark before each of its statements.
    package func marked(_ mark: String) -> SQLWork { .followed(self, by: .marked(mark)) }
}

extension SQLWork {
    /// Nothing to do.
    package static var nothing: SQLWork { .done([]) }

    /// An answer.
    package static func answer(_ isSo: Bool) -> SQLWork { .done(isSo ? [[]] : []) }

    /// Work that begins with what can fail without a statement.
    @inline(never)
    package static func trying(_ body: () throws(SQLError) -> SQLWork) -> SQLWork {
        do { return try body() } catch { return .failed(error) }
    }

    /// One statement.
    @inline(never)
    package static func statement(_ sql: String, _ arguments: [SQLValue] = []) -> SQLWork {
        .asking(.query(sql, arguments))
    }

    /// The closure of the caller.
    package static var call: SQLWork { .asking(.call) }

    /// Work for each number, one after the other.
    @inline(never)
    package static func each(
        _ numbers: Range<Int>,
        _ body: @escaping (Int) throws(SQLError) -> SQLWork
    ) -> SQLWork {
        guard let first = numbers.first else { return nothing }
        return trying { () throws(SQLError) in try body(first) }
            .then { each(first + 1..<numbers.upperBound, body) }
    }

    /// Goes on with the whole number that a statement gives.
    ///
    /// A connection that gives every value as text has texts of digits.
    @inline(never)
    package static func number(
        _ sql: String,
        _ next: @escaping (Int64) throws(SQLError) -> SQLWork
    ) -> SQLWork {
        statement(sql).then { (rows: SQLRows) throws(SQLError) in
            switch rows.first?.first {
            case .integer(let number): return try next(number)
            case .text(let text):
                if let number = Int64(text) { return try next(number) }
                fallthrough
            default: throw SQLError(.statementFailed, "\(sql) gave no number")
            }
        }
    }

    /// The same work, a statement of a script, whose place the error of a failure has.
    @inline(never)
    package func located(_ statement: String, _ line: Int, _ column: Int) -> SQLWork {
        failing { error in
            var error = error
            (error.line, error.column, error.statement) = (line, column, statement)
            return error
        }
    }
}
