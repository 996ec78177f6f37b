/// How a database writes what the migrator says to it, where databases differ.
public struct SQLDialect: Sendable, Hashable {
    private enum Kind { case sqlite, postgres }

    private let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// SQLite 3.
    public static var sqlite: SQLDialect { SQLDialect(.sqlite) }

    /// PostgreSQL.
    public static var postgres: SQLDialect { SQLDialect(.postgres) }

    var isSQLite: Bool { kind == .sqlite }
}
