/// The SQL dialect of a database, which decides which statements a migrator sends.
///
/// ``postgres`` is the dialect of PostgreSQL, and `AppMigrationsSQLite` adds `sqlite`. The statements
/// themselves are in the `SQLSession` that a dialect creates.
public struct SQLDialect: Sendable, Hashable {
    private let name: String

    /// Creates the session that writes statements in this dialect.
    package let makeSession: @Sendable (SQLConversation) -> any SQLSession

    package init(_ name: String, makeSession: @escaping @Sendable (SQLConversation) -> any SQLSession) {
        self.name = name
        self.makeSession = makeSession
    }

    public static func == (left: SQLDialect, right: SQLDialect) -> Bool { left.name == right.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
