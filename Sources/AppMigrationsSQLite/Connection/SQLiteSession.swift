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

    package func columns(of table: String) -> SQLWork<[[SQLValue]]> {
        .rows("SELECT name, type FROM pragma_table_info(\(SQLValue.text(table)), 'main')")
    }

    package func has(_ table: TablesOfTexts.Table) -> SQLWork<Bool> {
        SQLWork.rows(
            "SELECT 1 FROM main.sqlite_master WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE",
            [.text(table.name.text)]
        ).map { !$0.isEmpty }
    }

    package var goesOnAfterErrors: Bool { true }

    package func firstValues(of sql: String) -> SQLWork<[SQLValue]> {
        guard let own else { return SQLWork.rows(sql).map { $0.compactMap(\.first) } }
        return .trying {
            var values = [SQLValue]()
            try own.forEachFirst(of: sql) { values.append($0) }
            return .done(values)
        }
    }

    func number(of pragma: String) -> SQLWork<Int64> { .number("PRAGMA \(pragma)") }

    func set(_ pragma: String, to number: Int64) -> SQLWork<Void> {
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
