/// A connection whose statements are awaited, as a migrator needs it.
///
/// PostgresNIO's `PostgresConnection` is one with some sixty lines, which the guide <doc:AsynchronousConnections> has.
/// SQLiteNIO's is shown below.
///
/// The method throws whatever its library throws: an error must never come back as an empty result.
///
/// A client may connect again while the connection is idle, and **never inside of a transaction**. What came before in the
/// transaction is gone then, and a statement that the client repeats on the new connection is committed alone. Of two inserts,
/// `1` and `2`, the next attempt leaves the rows `2`, `1` and `2`.
public protocol AsyncSQLConnection {
    /// Runs one statement and returns its rows, each with the values of its columns in order.
    ///
    /// It is called for one statement at a time, and always on the connection that the caller handed over: a pool lends one
    /// connection for the whole call.
    @discardableResult
    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]]

    /// The dialect of the database.
    static var dialect: SQLDialect { get }

    /// What the server said, for an error that ``query(_:_:)`` threw; `nil` if the error is neither the server's nor that of a lost
    /// connection.
    ///
    /// A report without an SQLSTATE says that the connection was lost, or was never made. A fleet's `MigrationError.isTransient`
    /// is true for it.
    ///
    /// ``SQLError/code-property`` is told by the SQLSTATE. Without this method, which is `nil` by default, an error has the words
    /// of its description and no more.
    static func serverError(from error: any Error) -> ServerError?

    /// Closes the connection.
    ///
    /// Whoever connects, closes: the library calls it for a connection that it has had made, also after an error, more than once,
    /// and while a statement is under way that isn't answered, which it ends. By default nothing is done.
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

    /// Runs one statement in a task that isn't cancelled with the caller's, on the caller's actor.
    ///
    /// Many a library takes no statement in a cancelled task. The connection would stay in its transaction, and what the app
    /// writes next would be in it.
    @discardableResult
    package nonisolated(nonsending) func undo(
        _ sql: String,
        _ arguments: [SQLValue] = []
    ) async throws -> [[SQLValue]] {
        // The task that the connection belongs to does nothing but wait.
        nonisolated(unsafe) let db: any AsyncSQLConnection = self
        @Sendable func query(on isolation: isolated (any Actor)?) async throws -> [[SQLValue]] {
            try await db.query(sql, arguments)
        }
        let isolation = #isolation
        return try await Task { @Sendable in try await query(on: isolation) }.value
    }
}
