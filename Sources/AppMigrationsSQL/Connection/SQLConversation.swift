internal import AppMigrations

package typealias SQLRows = [[SQLValue]]

/// The conversation of rules with a database: straight-line code, whatever the connection.
package typealias SQLRules = () throws(SQLError) -> Void

/// The statements of rules on one connection, and the closure of the caller where the rules ask for it.
///
/// On a connection that blocks, rules run where they are called. On one that is awaited they run on a thread of their own
/// (``run(awaiting:calling:_:)``), and the caller's task answers what they ask.
package final class SQLConversation {
    // An optional of the protocol would be put together at run time, which takes the first call as long as a statement.
    private enum Side { case blocking(any SQLConnection), awaited }
    private let side: Side
    /// The way to the caller's task, while rules run on a thread of their own.
    private var thread: SQLThread?
    private var awaited: (any AsyncSQLConnection.Type)?
    private var closure: () throws -> Void = {}

    /// Ends the statements of this task that are never answered, if a fleet runs them.
    @TaskLocal package static var watch: (any AnswerWatch)?
    private var watch: (any AnswerWatch)?
    /// Where the server runs the next statement; `nil` if the database has no server.
    package var place: StatementPlace?
    /// Why the connection answers nothing any more.
    ///
    /// No further statement is sent to it.
    private var silence: SQLError?

    /// How many parts are under way whose statements run in a cancelled task too.
    private var uncancelled = 0
    /// Stands before each statement, for those who ask the server what its connections run.
    package var mark = ""
    /// The error of the app's closure.
    private var failure: (cause: any Error, message: String)?

    /// Rules for a connection, or for one that is awaited for `nil`.
    package init(_ connection: (any SQLConnection)?) {
        side = if let connection { .blocking(connection) } else { .awaited }
    }

    /// True if the connection is awaited.
    package var isAwaited: Bool { if case .awaited = side { true } else { false } }

    /// The connection where it is of a type.
    package func connection<Connection: SQLConnection>(as type: Connection.Type) -> Connection? {
        if case .blocking(let connection) = side { connection as? Connection } else { nil }
    }

    /// True if statements that are never answered have an end.
    package var isWatched: Bool { watch != nil }

    /// True if the task of the caller was cancelled.
    package var isCancelled: Bool { thread?.isCancelled ?? Task<Never, Never>.isCancelled }

    // Once, and not wherever it is called.
    @discardableResult @inline(never)
    package func query(_ sql: String, _ arguments: [SQLValue] = []) throws(SQLError) -> SQLRows {
        try ask(uncancelled > 0 ? .undo(sql, arguments) : .query(mark + sql, arguments))
    }

    /// Runs one statement that must not be left out in a cancelled task.
    package func undo(_ sql: String) throws(SQLError) { _ = try ask(.undo(sql, [])) }

    /// Runs a script where the connection takes one.
    package func execute(script: String) throws(SQLError) { _ = try ask(.script(script)) }

    package func call() throws(SQLError) { _ = try ask(.call) }

    /// Sleeps: no task waits on the thread of the rules, and one that is cancelled is noticed by the next statement.
    package func pause(_ time: Duration) { Platform.pause(time) }

    /// The whole number that a statement gives.
    package func number(_ sql: String) throws(SQLError) -> Int64 {
        if let number = try query(sql).first?.first?.number { return number }
        throw SQLError(.statementFailed, "\(sql) returned no number")
    }

    /// Runs `body` in a savepoint, to which an error goes back.
    package func inSavepoint(_ body: SQLRules) throws(SQLError) {
        try query("SAVEPOINT app_migrations_step")
        do throws(SQLError) {
            try body()
            try query("RELEASE SAVEPOINT app_migrations_step")
        } catch {
            throw undoing("the rollback", after: error) { () throws(SQLError) in
                try query("ROLLBACK TO SAVEPOINT app_migrations_step")
                try query("RELEASE SAVEPOINT app_migrations_step")
            }
        }
    }

    /// Runs `body`, and `undo` in every case.
    ///
    /// The error of `body` is the one that comes out, with a failure of `undo` added to it.
    package func undoing(_ action: String, by undo: SQLRules, _ body: SQLRules) throws(SQLError) {
        do throws(SQLError) { try body() } catch { throw undoing(action, after: error, by: undo) }
        uncancelled += 1
        defer { uncancelled -= 1 }
        try undo()
    }

    /// Takes back what an error came of, and returns that error.
    package func undoing(_ action: String, after error: SQLError, by undo: SQLRules) -> SQLError {
        uncancelled += 1
        defer { uncancelled -= 1 }
        do throws(SQLError) { try undo() } catch let failure { return error.adding(failure, of: action) }
        return error
    }

    /// The error to throw where rules failed: what the closure of the app threw comes out as it was.
    package func cause(of error: SQLError) -> any Error {
        // A statement of the closure, too, ends by the cancellation of its task.
        if error.code == .cancelled, Task<Never, Never>.isCancelled { return CancellationError() }
        if let failure, failure.message == error.message { return failure.cause }
        return error
    }

    private func ask(_ request: SQLRequest) throws(SQLError) -> SQLRows {
        do {
            if case .blocking(let connection) = side { return try request.answer(on: connection, closure) }
            guard let thread else {
                throw SQLError(.closed, "The call that awaits the connection has returned")
            }
            return try thread.ask(request)
        } catch {
            let server =
                if case .blocking(let connection) = side {
                    type(of: connection).serverError(from: error)
                } else { awaited?.serverError(from: error) }
            // A failure of the connection, which may have words of its own for a lock, or of the app's closure.
            let (code, isOfDatabase): (SQLError.Code, Bool) =
                switch request {
                case .query, .undo: (.statementFailed, true)
                case .script: (.migrationFailed, true)
                case .call: (.migrationFailed, false)
                }
            let wrapped = SQLError.wrapped(error, as: code, server: server, findingLocks: isOfDatabase)
            // The error itself doesn't tell what the server said.
            if !isOfDatabase, server == nil { failure = (error, wrapped.message) }
            throw wrapped
        }
    }

    /// Runs rules that ask for a closure, on a connection that blocks.
    package func run(calling call: () throws -> Void, _ rules: SQLRules) throws(SQLError) {
        try withoutActuallyEscaping(call) { (call) throws(SQLError) in
            closure = call
            defer { closure = {} }
            try rules()
        }
    }

    /// Runs rules on a thread of their own, and answers what they ask on the caller's actor.
    ///
    /// The thread sleeps while the task awaits, and ends with the rules. So rules find none of the task's local values, and
    /// the closure, which runs in the task, finds all. In a trace of all threads, a debugger's for instance, each function
    /// of the rules is a frame of that thread, from `ask` up to the migrator's `run`. The task has the connection's frames.
    package nonisolated(nonsending) func run(
        awaiting db: any AsyncSQLConnection,
        calling call: nonisolated(nonsending) () async throws -> Void = {},
        _ rules: @escaping SQLRules
    ) async throws(SQLError) {
        let thread = SQLThread(isCancelled: Task<Never, Never>.isCancelled)
        (self.thread, awaited) = (thread, type(of: db))
        watch = Self.watch
        defer { self.thread = nil }
        var failure: SQLError?
        try thread.begin { do throws(SQLError) { try rules() } catch { failure = error } }
        while let request = await thread.next() {
            let answer: Result<SQLRows, any Error>
            do { answer = .success(try await self.answer(request, awaiting: db, calling: call)) } catch {
                answer = .failure(error)
            }
            thread.give(answer, isCancelled: Task<Never, Never>.isCancelled)
        }
        if let failure { throw failure }
    }

    /// Answers one question of the rules, and ends the wait for a connection that went silent.
    private nonisolated(nonsending) func answer(
        _ request: SQLRequest,
        awaiting db: any AsyncSQLConnection,
        calling call: nonisolated(nonsending) () async throws -> Void
    ) async throws -> SQLRows {
        guard let watch else { return try await request.answer(awaiting: db, call) }
        do {
            if case .call = request {
                try await watch.call(at: place, closing: db, call)
                return []
            }
            var isUndo = false
            if case .undo = request { isUndo = true }
            if let silence {
                // The server rolls back when the connection ends.
                if isUndo { return [] }
                throw silence
            }
            // A rollback waits for no lock, so nobody has to ask whether it still runs.
            let place = isUndo && place != nil ? .outside : place
            return try await watch.answer(at: place, of: type(of: db)) {
                try await request.answer(awaiting: db) {}
            }
        } catch let unanswered as UnansweredStatement {
            silence = unanswered.reason
            throw unanswered.reason
        }
    }

    /// On a connection that was made for these rules, which is closed in every case.
    nonisolated(nonsending) func run(
        closing db: any AsyncSQLConnection,
        calling call: nonisolated(nonsending) () async throws -> Void,
        _ rules: @escaping SQLRules
    ) async throws {
        var failure: (any Error)?
        do throws(SQLError) { try await run(awaiting: db, calling: call, rules) } catch {
            failure = cause(of: error)
        }
        await db.close()
        if let failure { throw failure }
    }
}

/// A question of the rules to the connection they run on, or to their caller.
enum SQLRequest {
    /// One statement.
    case query(String, [SQLValue])
    /// One statement that takes something back, also in a cancelled task.
    case undo(String, [SQLValue])
    /// Any number of statements, where the connection takes them at once.
    case script(String)
    /// The closure of the caller, which knows what it is called for.
    case call

    /// Answers on a connection that blocks.
    func answer(on db: any SQLConnection, _ call: () throws -> Void) throws -> SQLRows {
        switch self {
        case .query(let sql, let arguments), .undo(let sql, let arguments):
            return try db.query(sql, arguments)
        case .script(let text): try db.execute(script: text)
        case .call: try call()
        }
        return []
    }

    /// Answers on a connection that is awaited.
    ///
    /// Each statement goes to it by itself: where a script has several, the dialect has split it before.
    nonisolated(nonsending) func answer(
        awaiting db: any AsyncSQLConnection,
        _ call: nonisolated(nonsending) () async throws -> Void
    ) async throws -> SQLRows {
        switch self {
        case .query(let sql, let arguments): return try await db.query(sql, arguments)
        case .undo(let sql, let arguments): return try await db.undo(sql, arguments)
        case .script(let text): return try await db.query(text, [])
        case .call: try await call()
        }
        return []
    }
}
