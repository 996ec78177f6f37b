internal import AppMigrations

package typealias SQLRows = [[SQLValue]]

/// Synchronous database code: a closure that sends its statements through an ``SQLConversation``.
///
/// So the same code works on a connection that blocks and on an asynchronous one. The code itself is always
/// written as synchronous code, and is called *rules* in this module.
package typealias SQLRules = () throws(SQLError) -> Void

/// Sends the statements of synchronous database code to one connection, and calls the caller's closure for
/// it.
///
/// On a connection that blocks, rules run on the caller's thread. On an asynchronous connection, they run on
/// a thread of their own (``run(awaiting:calling:_:)``), and the caller's task performs their requests.
package final class SQLConversation {
    // An enum and not `(any SQLConnection)?`: Swift would have to instantiate that optional type at run time.
    // In the first call of a process, that takes as long as a statement.
    private enum Side { case blocking(any SQLConnection), awaited }
    private let side: Side
    /// Passes requests to the caller's task, while rules run on a thread of their own.
    private var thread: SQLThread?
    private var awaited: (any AsyncSQLConnection.Type)?
    private var closure: () throws -> Void = {}

    /// The watch that a fleet has set for this task; `nil` outside of a fleet.
    ///
    /// It ends the wait for statements that are never answered.
    @TaskLocal package static var watch: (any AnswerWatch)?
    /// The same watch, copied because the thread of the rules can't read the task's values.
    private var watch: (any AnswerWatch)?
    /// How the server runs the next statement; `nil` if the database has no server.
    package var place: StatementPlace?
    /// The reason why the connection doesn't answer any more; `nil` while it does.
    ///
    /// No further statement is sent to it.
    private var errorOfSilentConnection: SQLError?

    /// How many cleanups are running, one inside the other.
    ///
    /// While there is one, statements also run in a cancelled task.
    private var cleanupDepth = 0
    /// A comment that is put before each statement.
    ///
    /// Other hosts can see it in the server's list of running statements.
    package var mark = ""
    /// The error that the app's closure threw, and the message of the ``SQLError`` that wraps it.
    ///
    /// By that message, ``cause(of:)`` recognizes the wrapped error.
    private var failure: (cause: any Error, message: String)?

    /// Creates a conversation with a connection that blocks.
    ///
    /// Pass `nil` for an asynchronous connection, which ``run(awaiting:calling:_:)`` receives later.
    package init(_ connection: (any SQLConnection)?) {
        side = if let connection { .blocking(connection) } else { .awaited }
    }

    /// True if the connection is asynchronous.
    package var isAwaited: Bool { if case .awaited = side { true } else { false } }

    /// The connection, if it has this type.
    package func connection<Connection: SQLConnection>(as type: Connection.Type) -> Connection? {
        if case .blocking(let connection) = side { connection as? Connection } else { nil }
    }

    /// True if a fleet's watch ends the wait for statements that are never answered.
    package var isWatched: Bool { watch != nil }

    /// True if the task of the caller was cancelled.
    ///
    /// On an asynchronous connection, this says what was true at the last answer.
    package var isCancelled: Bool { thread?.isCancelled ?? Task<Never, Never>.isCancelled }

    // Not inlined: it is called in many places, and inlining would make the binary larger.
    @discardableResult @inline(never)
    package func query(_ sql: String, _ arguments: [SQLValue] = []) throws(SQLError) -> SQLRows {
        try ask(cleanupDepth > 0 ? .undo(sql, arguments) : .query(mark + sql, arguments))
    }

    /// Runs one statement of a cleanup, for example ROLLBACK, which also runs in a cancelled task.
    package func undo(_ sql: String) throws(SQLError) { _ = try ask(.undo(sql, [])) }

    /// Runs a script on a connection that accepts one.
    package func execute(script: String) throws(SQLError) { _ = try ask(.script(script)) }

    /// Calls the caller's closure.
    package func call() throws(SQLError) { _ = try ask(.call) }

    /// Blocks the current thread for a time.
    ///
    /// On an asynchronous connection this is a thread of its own, so no other task is delayed. On a
    /// connection that blocks, it is the caller's thread. Cancelling the caller's task doesn't end the pause.
    /// Most connections refuse the next statement then. On an asynchronous connection, ``isCancelled`` becomes
    /// true only with the next answer.
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

    /// Runs `body` and then the cleanup `undo`, even if `body` failed.
    ///
    /// If both fail, the error of `body` is thrown, and its message says that the cleanup (`action`) failed
    /// as well.
    package func undoing(_ action: String, by undo: SQLRules, _ body: SQLRules) throws(SQLError) {
        do throws(SQLError) { try body() } catch { throw undoing(action, after: error, by: undo) }
        cleanupDepth += 1
        defer { cleanupDepth -= 1 }
        try undo()
    }

    /// Runs the cleanup `undo` after an error, and returns that error.
    ///
    /// If the cleanup fails as well, the message says so.
    package func undoing(_ action: String, after error: SQLError, by undo: SQLRules) -> SQLError {
        cleanupDepth += 1
        defer { cleanupDepth -= 1 }
        do throws(SQLError) { try undo() } catch let failure { return error.adding(failure, of: action) }
        return error
    }

    /// The error to throw to the caller if rules failed with `error`.
    ///
    /// If `error` wraps an error of the app's closure, this is the closure's own error. Otherwise it is
    /// `error`.
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
            // Only an error of the connection is searched for a message about a lock. The app's closure may
            // throw any text, which may contain the same words by chance.
            let wrapped = SQLError.wrapped(
                error,
                as: request.errorCode,
                server: server,
                findingLocks: !request.isCallback
            )
            // The closure's own error is kept, so that the caller gets it unchanged. It isn't kept if the
            // server reported an error: the wrapped error has the server's message, and the closure's error
            // lacks it.
            if request.isCallback, server == nil { failure = (error, wrapped.message) }
            throw wrapped
        }
    }

    /// Runs rules on a connection that blocks, and calls `call` when they ask for the caller's closure.
    package func run(calling call: () throws -> Void, _ rules: SQLRules) throws(SQLError) {
        try withoutActuallyEscaping(call) { (call) throws(SQLError) in
            closure = call
            defer { closure = {} }
            try rules()
        }
    }

    /// Runs rules on a thread of their own, and performs their requests on the caller's actor.
    ///
    /// The thread sleeps while the task awaits the connection, and ends when the rules return. So rules can't
    /// read the task-local values of the caller's task. The closure can, because it runs in the task.
    ///
    /// In a debugger, look at both: the thread shows the functions of the rules, from the migrator's `run` to
    /// `ask`, and the task shows the functions of the connection.
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

    /// Performs one request of the rules.
    ///
    /// If there is a watch, it ends the wait for a connection that doesn't answer any more.
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
            if let errorOfSilentConnection {
                // The server rolls back when the connection ends.
                if isUndo { return [] }
                throw errorOfSilentConnection
            }
            // A rollback never waits for a lock. So the watch needn't ask the server whether it is still
            // running, as it does for other statements in a transaction.
            let place = isUndo && place != nil ? .outside : place
            return try await watch.answer(at: place, of: type(of: db)) {
                try await request.answer(awaiting: db) {}
            }
        } catch let unanswered as UnansweredStatement {
            errorOfSilentConnection = unanswered.reason
            throw unanswered.reason
        }
    }

    /// Runs rules on a connection that was opened for them, and closes it even if they fail.
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
