internal import AppMigrations

package typealias SQLRows = [[SQLValue]]

/// A closure of synchronous database code, which sends its statements through an ``SQLConversation``.
///
/// An operation is always written as synchronous code. The conversation makes it work on a connection that
/// blocks as well as on an asynchronous one.
package typealias SQLOperation = () throws(SQLError) -> Void

/// Sends the statements of an ``SQLOperation`` to one connection.
///
/// An operation can also call back: it asks the conversation to call the closure that the caller of `run`
/// passed, for example the closure of a migration.
///
/// On a connection that blocks, an operation runs on the caller's thread. On an asynchronous connection, it
/// runs on a thread of its own (``run(awaiting:calling:_:)``), and the caller's task performs its requests.
package final class SQLConversation {
    // An enum and not `(any SQLConnection)?`: Swift would have to instantiate that optional type at run time.
    // In the first call of a process, that takes as long as a statement.
    private enum Kind { case blocking(any SQLConnection), asynchronous }
    private let kind: Kind
    /// Passes requests to the caller's task, while an operation runs on a thread of its own.
    private var thread: SQLThread?
    /// The type of the asynchronous connection; `nil` before an operation has begun.
    private var asyncConnectionType: (any AsyncSQLConnection.Type)?
    /// The closure that the caller of ``run(calling:_:)`` passed, while its operation runs.
    private var closure: () throws -> Void = {}

    /// The watch that a fleet has set for this task; `nil` outside of a fleet.
    ///
    /// It ends the wait for statements that are never answered.
    @TaskLocal package static var watch: (any AnswerWatch)?
    /// The same watch, copied because the operation's thread can't read the task's values.
    private var watch: (any AnswerWatch)?
    /// How the server runs the next statement; `nil` if the database has no server.
    package var statementContext: StatementContext?
    /// The reason why the connection doesn't answer any more; `nil` while it answers.
    ///
    /// Once there is a reason, no further statement is sent to the connection.
    private var errorOfSilentConnection: SQLError?

    /// How many cleanups are running, one inside the other.
    ///
    /// During a cleanup, statements run even if the task is cancelled.
    private var cleanupDepth = 0
    /// A comment that is put before each statement.
    ///
    /// Other hosts can see it in the server's list of running statements.
    package var commentPrefix = ""
    /// The error that the app's closure threw, and the message of the ``SQLError`` that wraps it.
    ///
    /// ``cause(of:)`` compares the message with that of a later error, to find out whether the later error
    /// is this one.
    private var failure: (cause: any Error, message: String)?

    /// Creates a conversation with a connection that blocks.
    ///
    /// Pass `nil` for an asynchronous connection, which ``run(awaiting:calling:_:)`` receives later.
    package init(_ connection: (any SQLConnection)?) {
        kind = if let connection { .blocking(connection) } else { .asynchronous }
    }

    /// True if the connection is asynchronous.
    package var isAsynchronous: Bool { if case .asynchronous = kind { true } else { false } }

    /// The connection, if it has this type.
    package func connection<Connection: SQLConnection>(as type: Connection.Type) -> Connection? {
        if case .blocking(let connection) = kind { connection as? Connection } else { nil }
    }

    /// True if a fleet's watch ends the wait for statements that are never answered.
    package var isWatched: Bool { watch != nil }

    /// True if the task of the caller was cancelled.
    ///
    /// On an asynchronous connection, this value is updated only with each answer.
    package var isCancelled: Bool { thread?.isCancelled ?? Task<Never, Never>.isCancelled }

    // Not inlined: it is called in many places, and inlining would make the binary larger.
    @discardableResult @inline(never)
    package func query(_ sql: String, _ arguments: [SQLValue] = []) throws(SQLError) -> SQLRows {
        try ask(
            cleanupDepth > 0
                ? .queryIgnoringCancellation(sql, arguments) : .query(commentPrefix + sql, arguments)
        )
    }

    /// Runs one statement even if the task is cancelled.
    ///
    /// On an asynchronous connection, it is sent from a task that isn't cancelled. On a connection that
    /// blocks, it is sent like any other statement.
    package func queryIgnoringCancellation(_ sql: String) throws(SQLError) {
        _ = try ask(.queryIgnoringCancellation(sql, []))
    }

    /// Runs a script on a connection that accepts one.
    package func execute(script: String) throws(SQLError) { _ = try ask(.script(script)) }

    /// Calls the closure that the caller of `run` passed.
    package func call() throws(SQLError) { _ = try ask(.call) }

    /// Blocks the thread on which the operation runs.
    ///
    /// On an asynchronous connection, that is the operation's own thread, so no other task is delayed. On a
    /// connection that blocks, it is the caller's thread.
    ///
    /// If the caller's task is cancelled during the pause, the pause doesn't end early. Most connections then
    /// refuse the next statement. On an asynchronous connection, ``isCancelled`` becomes true only with the
    /// next answer.
    package func pause(_ time: Duration) { Platform.pause(time) }

    /// The whole number that a statement returns.
    package func number(_ sql: String) throws(SQLError) -> Int64 {
        if let number = try query(sql).first?.first?.number { return number }
        throw SQLError(.statementFailed, "\(sql) returned no number")
    }

    /// Runs `body` in a savepoint, and rolls back to the savepoint after an error.
    package func inSavepoint(_ body: SQLOperation) throws(SQLError) {
        try query("SAVEPOINT app_migrations_step")
        do throws(SQLError) {
            try body()
            try query("RELEASE SAVEPOINT app_migrations_step")
        } catch {
            throw runCleanup("the rollback", after: error) { () throws(SQLError) in
                try query("ROLLBACK TO SAVEPOINT app_migrations_step")
                try query("RELEASE SAVEPOINT app_migrations_step")
            }
        }
    }

    /// Runs `body` and then `cleanup`, even if `body` failed.
    ///
    /// If both fail, the error of `body` is thrown, and its message says that the cleanup failed as well. In
    /// that message, `action` is the name of the cleanup.
    package func withCleanup(
        _ action: String,
        by cleanup: SQLOperation,
        _ body: SQLOperation
    ) throws(SQLError) {
        do throws(SQLError) { try body() } catch { throw runCleanup(action, after: error, by: cleanup) }
        cleanupDepth += 1
        defer { cleanupDepth -= 1 }
        try cleanup()
    }

    /// Runs `cleanup` after an error, and returns that error.
    ///
    /// If the cleanup fails as well, the message of the returned error says so. In that message, `action` is
    /// the name of the cleanup.
    package func runCleanup(
        _ action: String,
        after error: SQLError,
        by cleanup: SQLOperation
    ) -> SQLError {
        cleanupDepth += 1
        defer { cleanupDepth -= 1 }
        do throws(SQLError) { try cleanup() } catch let failure { return error.adding(failure, of: action) }
        return error
    }

    /// The error to throw to the caller if an operation failed with `error`.
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
            if case .blocking(let db) = kind { return try request.answer(on: db, calling: closure) }
            guard let thread else {
                throw SQLError(.closed, "The call that awaits the connection has returned")
            }
            return try thread.ask(request)
        } catch {
            let server =
                if case .blocking(let db) = kind {
                    type(of: db).serverError(from: error)
                } else { asyncConnectionType?.serverError(from: error) }
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

    /// Runs an operation on a connection that blocks, and calls `call` when the operation calls back.
    package func run(calling call: () throws -> Void, _ operation: SQLOperation) throws(SQLError) {
        try withoutActuallyEscaping(call) { (call) throws(SQLError) in
            closure = call
            defer { closure = {} }
            try operation()
        }
    }

    /// Runs an operation on a thread of its own, and performs its requests on the caller's actor.
    ///
    /// The thread sleeps while the task awaits the connection, and ends when the operation returns. An
    /// operation can't read the task-local values of the caller's task, because it doesn't run in the task.
    /// The closure `call` can, because it does.
    ///
    /// In a debugger, look at both: the thread shows the functions of the operation, from the migrator's
    /// `run` to `ask`, and the task shows the functions of the connection.
    package nonisolated(nonsending) func run(
        awaiting db: any AsyncSQLConnection,
        calling call: nonisolated(nonsending) () async throws -> Void = {},
        _ operation: @escaping SQLOperation
    ) async throws(SQLError) {
        let thread = SQLThread(isCancelled: Task<Never, Never>.isCancelled)
        self.thread = thread
        asyncConnectionType = type(of: db)
        watch = Self.watch
        defer { self.thread = nil }
        var failure: SQLError?
        try thread.begin { do throws(SQLError) { try operation() } catch { failure = error } }
        while let request = await thread.next() {
            let answer: Result<SQLRows, any Error>
            do { answer = .success(try await self.answer(request, awaiting: db, calling: call)) } catch {
                answer = .failure(error)
            }
            thread.give(answer, isCancelled: Task<Never, Never>.isCancelled)
        }
        if let failure { throw failure }
    }

    /// Performs one request of an operation.
    ///
    /// If there is a watch, it ends the wait for a connection that doesn't answer any more.
    private nonisolated(nonsending) func answer(
        _ request: SQLRequest,
        awaiting db: any AsyncSQLConnection,
        calling call: nonisolated(nonsending) () async throws -> Void
    ) async throws -> SQLRows {
        guard let watch else { return try await request.answer(awaiting: db, calling: call) }
        do {
            if case .call = request {
                try await watch.call(in: statementContext, closing: db, call)
                return []
            }
            var isCleanup = false
            if case .queryIgnoringCancellation = request { isCleanup = true }
            if let errorOfSilentConnection {
                // The server rolls back when the connection ends.
                if isCleanup { return [] }
                throw errorOfSilentConnection
            }
            // A rollback never waits for a lock, so the server should answer it soon. For
            // `.outsideTransaction`, the watch stops waiting after a time limit. For a transaction, the watch
            // would ask the server again and again whether the statement is still running.
            let context = isCleanup && statementContext != nil ? .outsideTransaction : statementContext
            return try await watch.answer(in: context, of: type(of: db)) {
                try await request.answer(awaiting: db) {}
            }
        } catch let unanswered as UnansweredStatement {
            errorOfSilentConnection = unanswered.reason
            throw unanswered.reason
        }
    }

    /// Runs an operation on a connection that was opened for it, and closes the connection even if the
    /// operation fails.
    nonisolated(nonsending) func run(
        closing db: any AsyncSQLConnection,
        calling call: nonisolated(nonsending) () async throws -> Void,
        _ operation: @escaping SQLOperation
    ) async throws {
        var failure: (any Error)?
        do throws(SQLError) { try await run(awaiting: db, calling: call, operation) } catch {
            failure = cause(of: error)
        }
        await db.close()
        if let failure { throw failure }
    }
}
