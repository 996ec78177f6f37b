/// What a migrator needs of a database connection.
///
/// ``SQLiteConnection`` is one. So is a connection of another library, or to another database, once it has
/// these two methods: the guide <doc:WritingSQLMigrations> shows GRDB's `Database` and a connection of
/// libpq.
///
/// Both methods throw whatever their library throws: an error must never come back as an empty result.
public protocol SQLConnection {
    /// Runs one statement and returns its rows, each with the values of its columns in order.
    @discardableResult
    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]]

    /// Runs every statement of a text, in order, up to the first that fails.
    ///
    /// The migrator calls it inside a transaction, which the script must not end. ``SQLiteConnection``
    /// refuses such a statement before it runs; with another connection the migrator finds out afterwards.
    func execute(script: String) throws

    /// The dialect of the database, SQLite's unless said otherwise.
    static var dialect: SQLDialect { get }
}

extension SQLConnection {
    public static var dialect: SQLDialect { .sqlite }

    /// Runs one statement that has no parameters.
    @discardableResult
    public func query(_ sql: String) throws -> [[SQLValue]] { try query(sql, []) }
}
