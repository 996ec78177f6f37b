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

    /// What a server said, for an error that a method threw; `nil`, as by default, if the error is neither the server's nor that
    /// of a lost connection.
    ///
    /// A report without an SQLSTATE says that the connection was lost, or was never made.
    static func report(of error: any Error) -> SQLErrorReport?
}

extension SQLConnection {
    /// Runs one statement that has no parameters.
    @discardableResult
    public func query(_ sql: String) throws -> [[SQLValue]] { try query(sql, []) }

    public static func report(of error: any Error) -> SQLErrorReport? { nil }

    /// The rows of a query, with the errors of this library.
    @discardableResult
    package func rows(_ sql: String, _ arguments: [SQLValue] = []) throws(SQLError) -> [[SQLValue]] {
        do { return try query(sql, arguments) } catch {
            throw SQLError.wrapped(error, as: .statementFailed, findingLocks: true)
        }
    }
}

/// How a database writes what the migrator says to it, where databases differ.
///
/// ``postgres`` is PostgreSQL's. `AppMigrationsSQLite` adds `sqlite`.
public struct SQLDialect: Sendable, Hashable {
    private let name: String

    /// The migrator's view of such a database.
    package let session: @Sendable (SQLConversation) -> any SQLSession

    package init(_ name: String, session: @escaping @Sendable (SQLConversation) -> any SQLSession) {
        self.name = name
        self.session = session
    }

    public static func == (left: SQLDialect, right: SQLDialect) -> Bool { left.name == right.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// An error in the words of a database server.
///
/// The description of an error is no reason: PostgresNIO hides there what the server said, and a server has words in any
/// language.
public struct SQLErrorReport: Sendable {
    /// The message of the server.
    public var message: String

    /// The five characters that tell a program why ("PostgreSQL Error Codes"), `55P03` where a lock was waited for in vain.
    ///
    /// `nil` says that no server answered: the connection was lost, or was never made. The same work may succeed
    /// on another connection.
    public var sqlState: String?

    /// Facts beyond the message, the values of a key for instance.
    public var detail: String?

    /// The server's advice.
    public var hint: String?

    /// The answer of a connection for an error of its server.
    public init(message: String, sqlState: String? = nil, detail: String? = nil, hint: String? = nil) {
        (self.message, self.sqlState, self.detail, self.hint) = (message, sqlState, detail, hint)
    }

    /// All of the words, each part a sentence.
    var text: String {
        [detail, hint].compactMap(\.self).reduce(message) { $0 + ($0.hasSuffix(".") ? " " : ". ") + $1 }
    }
}
