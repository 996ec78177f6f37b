/// A database connection whose statements are awaited.
///
/// The guide <doc:AsynchronousConnections> has some sixty lines that make PostgresNIO's `PostgresConnection`
/// conform. SQLiteNIO's connection is shown below.
///
/// The method throws every error of its library: an error must never be returned as an empty result.
///
/// A client may reconnect while the connection is idle, but **never inside a transaction**. The earlier
/// statements of the transaction would be lost, and a statement that the client repeats on the new connection
/// would be committed by itself. For example, if a migration inserts the rows `1` and `2` and the connection
/// is lost between them, the database would have the rows `2`, `1` and `2` after the next attempt.
public protocol AsyncSQLConnection {
    /// Runs one statement and returns its rows, each with the values of its columns in order.
    ///
    /// It is called for one statement at a time, and always on the connection that the caller passed. So a
    /// pool must lend one connection for the whole call.
    @discardableResult
    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]]

    /// The dialect of the database.
    static var dialect: SQLDialect { get }

    /// The server's message and SQLSTATE for an error that ``query(_:_:)`` threw; `nil` if the error is
    /// neither the server's nor that of a lost connection.
    ///
    /// A `ServerError` without an SQLSTATE means that the connection was lost, or was never opened. A fleet's
    /// `MigrationError.isTransient` is true for it.
    ///
    /// The SQLSTATE decides ``SQLError/code-property``.
    ///
    /// By default this method returns `nil`, and the message of an error is its description.
    static func serverError(from error: any Error) -> ServerError?

    /// Closes the connection.
    ///
    /// The library calls it for a connection that it had opened by a closure of the app. It may call it after
    /// an error, more than once, and while a statement waits for its answer: then this method must end that
    /// statement. In a fleet it is also called for a connection that a migrator was given, if a closure's
    /// statement on it can't be answered any more, or if the closure goes on for half a lease after its task
    /// was cancelled. By default it does nothing.
    nonisolated(nonsending) func close() async
}

extension AsyncSQLConnection {
    /// Runs one statement that has no parameters.
    @discardableResult
    public nonisolated(nonsending) func query(_ sql: String) async throws -> [[SQLValue]] {
        try await query(sql, [])
    }

    public static func serverError(from error: any Error) -> ServerError? { nil }

    public nonisolated(nonsending) func close() async {}

    /// Runs one statement in a task that isn't cancelled with the caller's task, on the caller's actor.
    ///
    /// Many libraries refuse statements in a cancelled task. The connection would stay in its transaction,
    /// and the app's next writes would become part of it.
    @discardableResult
    package nonisolated(nonsending) func undo(
        _ sql: String,
        _ arguments: [SQLValue] = []
    ) async throws -> [[SQLValue]] {
        // This is safe: the caller's task does nothing but wait for the new one.
        nonisolated(unsafe) let db: any AsyncSQLConnection = self
        @Sendable func query(on isolation: isolated (any Actor)?) async throws -> [[SQLValue]] {
            try await db.query(sql, arguments)
        }
        let isolation = #isolation
        return try await Task { @Sendable in try await query(on: isolation) }.value
    }
}
