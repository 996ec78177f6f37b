extension SQLDialect {
    /// A parameter, counted from 1.
    func placeholder(_ number: Int) -> String {
        isSQLite ? "?\(number)" : "$\(number)"
    }

    /// A table, which a temporary one of the same name must not hide.
    func table(_ name: String) -> String {
        let quoted = SQLName.quoted(name, with: "\"")
        return isSQLite ? "main.\(quoted)" : quoted
    }

    /// The names and the types of a table's columns, one a row; no row where there is no such table.
    func columns(of table: String) -> String {
        isSQLite
            ? "SELECT name, type FROM pragma_table_info(\(SQLValue.text(table)), 'main')"
            : """
            SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute
            WHERE attrelid = to_regclass(\(SQLValue.text(SQLName.quoted(table, with: "\"")))) AND attnum > 0 AND NOT attisdropped
            """
    }

    /// FMDBMigrationManager's table with three columns more, which it can leave out when it inserts.
    func createLedger(_ name: String) -> String {
        """
        CREATE TABLE \(table(name)) (
            version \(isSQLite ? "INTEGER" : "BIGINT") UNIQUE NOT NULL,
            name TEXT,
            checksum TEXT,
            applied_at TEXT
        )
        """
    }

    /// The columns of a ledger that this library made.
    var ledgerColumns: [String] { ["version", "name", "checksum", "applied_at"] }

    /// The time now in UTC, as text.
    var now: String {
        isSQLite
            ? "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
            : "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    }
}
