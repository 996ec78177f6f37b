public import AppMigrationsSQL

/// An SQLite database as the migrator sees it, through the connection of any library.
package struct SQLiteSession: SQLSession {
    /// The connection where it is this library's, which tells more than SQL does.
    let own: SQLiteConnection?

    /// Whether the connection takes one statement at a time.
    let isAwaited: Bool

    /// The database of a connection, or of one that is awaited for `nil`.
    package init(_ db: (any SQLConnection)?) {
        own = db as? SQLiteConnection
        isAwaited = db == nil
    }

    package func placeholder(_ number: Int) -> String { "?\(number)" }

    package var schema: String { "main." }

    package var integerType: String { "INTEGER" }

    package var now: String { "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')" }

    package func columns(of table: String) -> SQLWork {
        .statement("SELECT name, type FROM pragma_table_info(\(SQLValue.text(table)), 'main')")
    }

    package func has(_ table: TablesOfTexts.Table) -> SQLWork {
        .statement(
            "SELECT 1 FROM main.sqlite_master WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE",
            [.text(table.name.text)]
        )
    }

    package var goesOnAfterErrors: Bool { true }

    package func values(of sql: String) -> SQLWork {
        guard let own else { return .statement(sql) }
        return .trying { () throws(SQLError) in
            var values = [SQLValue]()
            try own.forEachFirst(of: sql) { values.append($0) }
            return .done([values])
        }
    }

    func number(
        of pragma: String,
        _ next: @escaping (Int64) throws(SQLError) -> SQLWork
    ) -> SQLWork {
        .number("PRAGMA \(pragma)", next)
    }

    func set(_ pragma: String, to number: Int64) -> SQLWork {
        .statement("PRAGMA \(pragma) = \(number)")
    }
}

extension SQLDialect {
    /// SQLite 3.
    public static var sqlite: SQLDialect { SQLDialect("sqlite") { SQLiteSession($0) } }
}

extension SQLConnection {
    public static var dialect: SQLDialect { .sqlite }
}

extension AsyncSQLConnection {
    public static var dialect: SQLDialect { .sqlite }
}
