@_exported public import AppMigrationsSQL

extension SQLDialect {
    /// PostgreSQL.
    public static var postgres: SQLDialect {
        SQLDialect("postgres") { PostgresSession(isAwaited: $0 == nil) }
    }
}
