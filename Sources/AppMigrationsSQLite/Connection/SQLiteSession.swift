public import AppMigrationsSQL

/// An SQLite database as the migrator sees it, through the connection of any library.
package struct SQLiteSession: SQLSession {
    package let db: SQLConversation

    /// The connection where it is this library's, which tells more than SQL does.
    let own: SQLiteConnection?

    /// Whether the connection takes one statement at a time.
    var isAwaited: Bool { db.connection == nil }

    package init(_ db: SQLConversation) {
        self.db = db
        own = db.connection as? SQLiteConnection
    }

    package func placeholder(_ number: Int) -> String { "?\(number)" }

    package func quoted(_ table: String) -> String { "main." + table.quoted(with: "\"") }

    package var integerType: String { "INTEGER" }

    package var now: String { "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')" }

    package func columns(of table: String) throws(SQLError) -> SQLRows {
        try db.query("SELECT name, type FROM pragma_table_info(\(SQLValue.text(table)), 'main')")
    }

    package func has(_ table: TablesOfTexts.Table) throws(SQLError) -> Bool {
        let sql =
            "SELECT 1 FROM main.sqlite_master WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE"
        return try !db.query(sql, [.text(table.name.text)]).isEmpty
    }

    package var goesOnAfterErrors: Bool { true }

    package func values(of sql: String) throws(SQLError) -> SQLRows {
        guard let own else { return try db.query(sql) }
        var values = [SQLValue]()
        try own.forEachFirst(of: sql) { values.append($0) }
        return [values]
    }

    func number(of pragma: String) throws(SQLError) -> Int64 { try db.number("PRAGMA \(pragma)") }

    func set(_ pragma: String, to number: Int64) throws(SQLError) {
        try db.query("PRAGMA \(pragma) = \(number)")
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
