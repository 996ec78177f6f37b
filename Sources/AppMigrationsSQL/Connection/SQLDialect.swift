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
