/// A database connection that a migrator can use.
///
/// `SQLiteConnection` of `AppMigrationsSQLite` conforms. A connection of another library to SQLite or to
/// PostgreSQL conforms with these two methods and the dialect of its database. GRDB's `Database` is shown
/// below, and a connection of libpq is in `Tests/Packages/PostgresInterop` of this package.
///
/// Both methods throw every error of their library: an error must never be returned as an empty result.
public protocol SQLConnection {
    /// Runs one statement and returns its rows, each with the values of its columns in order.
    @discardableResult
    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]]

    /// Runs every statement of a text, in order, up to the first that fails.
    ///
    /// The migrator calls it inside a transaction, which the script must not end. `SQLiteConnection` refuses
    /// such a statement before it runs. On other connections the migrator checks afterwards whether the
    /// transaction still exists. On PostgreSQL the migrator doesn't call it, and passes each statement to
    /// ``query(_:_:)``.
    func execute(script: String) throws

    /// The dialect of the database that this type connects to.
    static var dialect: SQLDialect { get }

    /// The server's message and SQLSTATE for an error that a method threw.
    ///
    /// By default it returns `nil`, which is right if the error is neither the server's nor that of a lost
    /// connection. A `ServerError` without an SQLSTATE means that the connection was lost, or was never
    /// opened.
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
