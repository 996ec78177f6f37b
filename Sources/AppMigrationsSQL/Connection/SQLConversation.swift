internal import AppMigrations

package typealias SQLRows = [[SQLValue]]

/// Code that sends statements by an ``SQLConversation``, and so works on any connection.
///
/// It is written as synchronous code, even if the connection is awaited.
package typealias SQLRules = () throws(SQLError) -> Void

/// Sends the statements of rules to one connection, and calls the caller's closure for them.
///
/// On a connection that blocks, rules run on the caller's thread. On a connection that is awaited, they run
/// on a thread of their own (``run(awaiting:calling:_:)``), and the caller's task answers their requests.
package final class SQLConversation {
    // Not an optional of the protocol: Swift would instantiate that type at run time. In the first call of a
    // process, that takes as long as a statement.
    private enum Side { case blocking(any SQLConnection), awaited }
    private let side: Side
    /// Passes requests to the caller's task, while rules run on a thread of their own.
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

    /// The number of cleanups that are under way.
    ///
    /// Their statements also run in a cancelled task.
    private var uncancelled = 0
    /// A comment that is put before each statement.
    ///
    /// It is visible when the server lists what its connections run.
    package var mark = ""
    /// The error of the app's closure.
    private var failure: (cause: any Error, message: String)?

    /// Prepares for rules on a connection, or on one that is awaited if `connection` is `nil`.
    package init(_ connection: (any SQLConnection)?) {
        side = if let connection { .blocking(connection) } else { .awaited }
    }

    /// True if the connection is awaited.
    package var isAwaited: Bool { if case .awaited = side { true } else { false } }

    /// The connection, if it has this type.
    package func connection<Connection: SQLConnection>(as type: Connection.Type) -> Connection? {
        if case .blocking(let connection) = side { connection as? Connection } else { nil }
    }

    /// True if statements that are never answered have an end.
    package var isWatched: Bool { watch != nil }

    /// True if the task of the caller was cancelled.
    package var isCancelled: Bool { thread?.isCancelled ?? Task<Never, Never>.isCancelled }

    // One copy of the code, instead of one at each call.
    @discardableResult @inline(never)
    package func query(_ sql: String, _ arguments: [SQLValue] = []) throws(SQLError) -> SQLRows {
        try ask(uncancelled > 0 ? .undo(sql, arguments) : .query(mark + sql, arguments))
    }

    /// Runs one statement that must also run in a cancelled task.
    package func undo(_ sql: String) throws(SQLError) { _ = try ask(.undo(sql, [])) }

    /// Runs a script on a connection that accepts one.
    package func execute(script: String) throws(SQLError) { _ = try ask(.script(script)) }

    /// Calls the caller's closure.
    package func call() throws(SQLError) { _ = try ask(.call) }

    /// Blocks the thread for a time.
    ///
    /// That delays no other task, because rules have a thread of their own. If the caller's task is
    /// cancelled, the next statement fails.
    package func pause(_ time: Duration) { Platform.pause(time) }

    /// The whole number that a statement returns.
    package func number(_ sql: String) throws(SQLError) -> Int64 {
        if let number = try query(sql).first?.first?.number { return number }
        throw SQLError(.statementFailed, "\(sql) returned no number")
    }

    /// Runs `body` in a savepoint, and rolls back to the savepoint after an error.
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
    /// If both fail, the error of `body` is thrown, with the failure of `undo` added to its message.
    package func undoing(_ action: String, by undo: SQLRules, _ body: SQLRules) throws(SQLError) {
        do throws(SQLError) { try body() } catch { throw undoing(action, after: error, by: undo) }
        uncancelled += 1
        defer { uncancelled -= 1 }
        try undo()
    }

    /// Runs `undo` after an error, and returns the error, with a failure of `undo` added to its message.
    package func undoing(_ action: String, after error: SQLError, by undo: SQLRules) -> SQLError {
        uncancelled += 1
        defer { uncancelled -= 1 }
        do throws(SQLError) { try undo() } catch let failure { return error.adding(failure, of: action) }
        return error
    }

    /// The error to throw if rules failed: the error of the app's closure as it was, or the error of the
    /// rules.
    package func cause(of error: SQLError) -> any Error {
        // If the task is cancelled, a statement of the closure may end with this code as well.
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
            // The error of a connection may have its library's message for a lock. The error of the app's
            // closure may have any text.
            let (code, isOfDatabase): (SQLError.Code, Bool) =
                switch request {
                case .query, .undo: (.statementFailed, true)
                case .script: (.migrationFailed, true)
                case .call: (.migrationFailed, false)
                }
            let wrapped = SQLError.wrapped(error, as: code, server: server, findingLocks: isOfDatabase)
            // If the server reported an error, the closure's error doesn't contain the server's message.
            if !isOfDatabase, server == nil { failure = (error, wrapped.message) }
            throw wrapped
        }
    }

    /// Runs rules that call a closure, on a connection that blocks.
    package func run(calling call: () throws -> Void, _ rules: SQLRules) throws(SQLError) {
        try withoutActuallyEscaping(call) { (call) throws(SQLError) in
            closure = call
            defer { closure = {} }
            try rules()
        }
    }

    /// Runs rules on a thread of their own, and answers their requests on the caller's actor.
    ///
    /// The thread sleeps while the task awaits, and ends with the rules. So rules can't read the task-local
    /// values of the caller's task, but the closure can, because it runs in the task. In a backtrace of all
    /// threads, for example in a debugger, the functions of the rules are frames of that thread, from `ask`
    /// up to the migrator's `run`. The task has the frames of the connection.
    package nonisolated(nonsending) func run(
        awaiting db: any AsyncSQLConnection,
        calling call: nonisolated(nonsending) () async throws -> Void = {},
        _ rules: @escaping SQLRules
    ) async throws(SQLError) {
        let thread = SQLThread(isCancelled: Task<Never, Never>.isCancelled)
        self.thread = thread
        awaited = type(of: db)
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

    /// Runs rules on a connection that was opened for them, and closes it in every case.
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
