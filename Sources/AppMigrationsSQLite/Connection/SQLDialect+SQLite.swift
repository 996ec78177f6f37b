public import AppMigrationsSQL

extension SQLDialect {
    /// The dialect of SQLite 3.
    public static var sqlite: SQLDialect { SQLDialect("sqlite") { SQLiteSession($0) } }
}
