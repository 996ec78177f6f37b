/// Work under way: the part that comes next, and how it goes on after each part around that one.
final class WorkUnderWay {
    private var work: SQLWork
    private var continuations = [SQLContinuation]()
    /// How many parts are under way whose statements run in a cancelled task too.
    private var uncancelled = 0
    private var mark = ""
    private(set) var rows = SQLRows()

    private let failure: ClosureFailure?

    init(_ work: SQLWork, _ failure: ClosureFailure?) {
        self.work = work
        self.failure = failure
    }

    /// What the work asks next; `nil` when it is done.
    @inline(never)
    func next() throws(SQLError) -> SQLRequest? {
        while true {
            switch work {
            case .asking(let request):
                guard case .query(let sql, let arguments) = request else { return request }
                return uncancelled > 0 ? .undo(sql, arguments) : .query(mark + sql, arguments)
            case .followed(let first, let continuation):
                begin(continuation)
                work = first
            case .done(let rows):
                guard let continuation = continuations.popLast() else {
                    self.rows = rows
                    return nil
                }
                if case .either(let next?, _) = continuation {
                    work = .trying { () throws(SQLError) in try next(rows) }
                } else {
                    end(continuation)
                }
            case .failed(let error):
                guard let continuation = continuations.popLast() else { throw error }
                if case .either(_, let handle?) = continuation {
                    work = .trying { () throws(SQLError) in try handle(error) }
                } else {
                    end(continuation)
                }
            }
        }
    }

    private func begin(_ continuation: SQLContinuation) {
        switch continuation {
        case .either: continuations.append(continuation)
        case .uncancelled:
            uncancelled += 1
            continuations.append(continuation)
        case .marked(let new):
            continuations.append(.marked(mark))
            mark = new
        }
    }

    private func end(_ continuation: SQLContinuation) {
        switch continuation {
        case .either: break
        case .uncancelled: uncancelled -= 1
        case .marked(let former): mark = former
        }
    }

    func take(_ rows: SQLRows) { work = .done(rows) }

    /// Takes what the request failed with.
    @inline(never)
    func take(_ error: any Error) {
        guard case .asking(let request) = work else { return }
        var (code, findingLocks) = (SQLError.Code.migrationFailed, true)
        switch request {
        case .query, .undo: code = .statementFailed
        case .script: break
        case .call:
            failure?.note(error)
            findingLocks = false
        case .pause: findingLocks = false
        }
        work = .failed(SQLError.wrapped(error, as: code, findingLocks: findingLocks))
    }
}

/// What the closure of the app threw that work called.
package final class ClosureFailure {
    private var failure: (cause: any Error, message: String)?

    package init() {}

    /// Does something that can fail with an error that is to come out as it is.
    func noting(_ body: () throws -> Void) throws(SQLError) {
        do { try body() } catch {
            note(error)
            throw SQLError.wrapped(error, as: .migrationFailed)
        }
    }

    func note(_ error: any Error) {
        failure = (error, SQLError.wrapped(error, as: .migrationFailed).message)
    }

    /// The error to throw where the work failed: what the closure threw comes out as it was.
    package func cause(of error: SQLError) -> any Error {
        // A statement of the closure, too, ends by the cancellation of its task.
        if error.code == .cancelled, Task<Never, Never>.isCancelled { return CancellationError() }
        if let failure, failure.message == error.message { return failure.cause }
        return error
    }
}
