@_exported public import AppMigrationsSQL

extension SQLDialect {
    /// PostgreSQL.
    public static var postgres: SQLDialect {
        SQLDialect("postgres") { PostgresSession(db: $0) }
    }
}
