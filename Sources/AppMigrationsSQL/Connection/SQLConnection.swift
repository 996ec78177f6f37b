/// A database connection that a migrator can use.
///
/// `SQLiteConnection` of `AppMigrationsSQLite` conforms. To use another library's connection to SQLite or
/// PostgreSQL, implement the two methods and `dialect`. This page has the lines for GRDB's `Database`, and
/// <doc:AsynchronousConnections> has the code for libpq.
///
/// Both methods must throw every error of their library. An error must never be returned as an empty result.
public protocol SQLConnection {
    /// Runs one statement and returns its rows, each with the values of its columns in order.
    @discardableResult
    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]]

    /// Runs every statement of a text, in order, up to the first that fails.
    ///
    /// The migrator calls it inside a transaction, which the script must not end. `SQLiteConnection` refuses
    /// a statement that would end it before the statement runs. On other connections the migrator checks
    /// afterwards whether the transaction still exists. On PostgreSQL the migrator doesn't call this method,
    /// and passes each statement to ``query(_:_:)``.
    func execute(script: String) throws

    /// The dialect of the database that this type connects to.
    static var dialect: SQLDialect { get }

    /// Converts an error that a method threw, if a server reported it or the connection was lost.
    ///
    /// Return the server's message and SQLSTATE for an error of the server, a `ServerError` without an
    /// SQLSTATE if the connection was lost or was never opened, and `nil` for any other error. By default it
    /// returns `nil`.
    static func serverError(from error: any Error) -> ServerError?
}

extension SQLConnection {
    /// Runs one statement that has no parameters.
    @discardableResult
    public func query(_ sql: String) throws -> [[SQLValue]] { try query(sql, []) }

    public static func serverError(from error: any Error) -> ServerError? { nil }

    /// Runs one statement, and throws its error as an ``SQLError``.
    @discardableResult
    package func rows(_ sql: String, _ arguments: [SQLValue] = []) throws(SQLError) -> [[SQLValue]] {
        do { return try query(sql, arguments) } catch {
            throw SQLError.wrapped(error, as: .statementFailed, findingLocks: true)
        }
    }
}
