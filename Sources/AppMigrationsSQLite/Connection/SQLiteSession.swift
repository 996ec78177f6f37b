public import AppMigrationsSQL

/// An SQLite connection of any library as the migrator sees it.
package struct SQLiteSession: SQLSession {
    package let db: any SQLConnection

    /// The connection where it is this library's, which tells more than SQL does.
    let own: SQLiteConnection?

    package init(_ db: any SQLConnection) {
        self.db = db
        own = db as? SQLiteConnection
    }

    package func placeholder(_ number: Int) -> String { "?\(number)" }

    package var schema: String { "main." }

    package var integerType: String { "INTEGER" }

    package var now: String { "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')" }

    package func columns(of table: String) throws(SQLError) -> [[SQLValue]] {
        try db.rows("SELECT name, type FROM pragma_table_info(\(SQLValue.text(table)), 'main')")
    }

    package func has(_ table: TablesOfTexts.Table) throws(SQLError) -> Bool {
        try !db.rows(
            "SELECT 1 FROM main.sqlite_master WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE",
            [.text(table.name.text)]
        ).isEmpty
    }

    package var goesOnAfterErrors: Bool { true }

    package func forEachFirst(
        of sql: String,
        _ body: (SQLValue?) throws(SQLError) -> Void
    ) throws(SQLError) {
        if let own { return try own.forEachFirst(of: sql, body) }
        for row in try db.rows(sql) { try body(row.first) }
    }

    package func check(_ script: SQLScript) throws(SQLError) { try script.check() }

    package func run(script: String) throws(SQLError) {
        guard let own, !own.isBorrowed else {
            return try behindSavepoint(findingLocks: true) { try db.execute(script: script) }
        }
        // It refuses what would end the transaction. A savepoint would have SQLite copy every page that the script
        // changes.
        try own.execute(script: script)
        if !own.hasTransaction { throw SQLError.endedTransaction }
    }
}

extension SQLDialect {
    /// SQLite 3.
    public static var sqlite: SQLDialect { SQLDialect("sqlite") { SQLiteSession($0) } }
}

extension SQLConnection {
    public static var dialect: SQLDialect { .sqlite }
}
