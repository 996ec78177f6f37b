/// A database connection whose statements are asynchronous.
///
/// The guide <doc:AsynchronousConnections> says where to find a conforming type of some seventy lines, which
/// wraps a `PostgresConnection` of PostgresNIO. The sections on this page show SQLiteNIO's connection and a
/// queue of GRDB.
///
/// ``query(_:_:)`` must throw every error of its library, and never return an empty result instead.
///
/// A client may reconnect while the connection is idle, but **never inside a transaction**. The earlier
/// statements of the transaction would be lost, and a statement that the client repeats on the new connection
/// would be committed by itself. For example, a migration inserts the rows `1` and `2`, and the connection is
/// lost between them. The client repeats the second insert, and the migration fails. The next attempt inserts
/// both, so the database has the rows `2`, `1` and `2`.
public protocol AsyncSQLConnection {
    /// Runs one statement and returns its rows, each with the values of its columns in order.
    ///
    /// It is called for one statement at a time, and always on the connection that the caller passed. So if
    /// you use a pool, take one connection from it for the whole call.
    @discardableResult
    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]]

    /// The dialect of the database.
    static var dialect: SQLDialect { get }

    /// Converts an error that ``query(_:_:)`` threw, if the server reported it or the connection was lost.
    ///
    /// Return the server's message and SQLSTATE for an error of the server, a `ServerError` without an
    /// SQLSTATE if the connection was lost or was never opened, and `nil` for any other error. For a lost
    /// connection, a fleet's `MigrationError.isTransient` is true.
    ///
    /// The SQLSTATE decides ``SQLError/code-property``.
    ///
    /// By default this method returns `nil`, and the message of an error is its description.
    static func serverError(from error: any Error) -> ServerError?

    /// Closes the connection.
    ///
    /// AppMigrations calls this method for each connection that a closure of the app has opened and returned
    /// to it. The call may come after an error, more than once, and while a statement waits for its answer.
    /// In the last case, this method must end that statement. By default it does nothing.
    ///
    /// A fleet also closes a connection that the app passed to a migrator, in two cases: if a closure's
    /// statement on it can't be answered any more, or if the closure is still running half a lease after its
    /// task was cancelled.
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
    /// Many libraries refuse statements in a cancelled task. Without the new task, a ROLLBACK would then be
    /// refused: the connection would stay in its transaction, and the app's next writes would become part of
    /// that transaction.
    @discardableResult
    package nonisolated(nonsending) func queryIgnoringCancellation(
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
