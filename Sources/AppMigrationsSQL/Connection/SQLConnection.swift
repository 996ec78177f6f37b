/// A database connection, as a migrator needs it.
///
/// `SQLiteConnection` of `AppMigrationsSQLite` is one. So is a connection of another library, or to another database,
/// once it has these two methods and a dialect: GRDB's `Database` is shown below, and a connection of libpq is in
/// `Tests/Packages/PostgresInterop` of this package.
///
/// Both methods throw whatever their library throws: an error must never come back as an empty result.
public protocol SQLConnection {
    /// Runs one statement and returns its rows, each with the values of its columns in order.
    @discardableResult
    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]]

    /// Runs every statement of a text, in order, up to the first that fails.
    ///
    /// The migrator calls it inside a transaction, which the script must not end. `SQLiteConnection` refuses such a
    /// statement before it runs; with another connection the migrator finds out afterwards. On PostgreSQL the migrator runs each
    /// statement by itself, by ``query(_:_:)``.
    func execute(script: String) throws

    /// The dialect of the database that this type connects to.
    static var dialect: SQLDialect { get }

    /// What a server said, for an error that a method threw.
    ///
    /// Return `nil`, as by default, if the error is neither the server's nor that of a lost connection. A
    /// `ServerError` without an SQLSTATE says that the connection was lost, or was never made.
    static func serverError(from error: any Error) -> ServerError?
}

extension SQLConnection {
    /// Runs one statement that has no parameters.
    @discardableResult
    public func query(_ sql: String) throws -> [[SQLValue]] { try query(sql, []) }

    public static func serverError(from error: any Error) -> ServerError? { nil }

    /// The rows of a query, with the errors of this library.
    @discardableResult
    package func rows(_ sql: String, _ arguments: [SQLValue] = []) throws(SQLError) -> [[SQLValue]] {
        do { return try query(sql, arguments) } catch {
            throw SQLError.wrapped(error, as: .statementFailed, findingLocks: true)
        }
    }
}
