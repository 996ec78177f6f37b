extension SQLDialect {
    /// A parameter, counted from 1.
    func placeholder(_ number: Int) -> String {
        isSQLite ? "?\(number)" : "$\(number)"
    }

    /// The ledger, which a temporary table of the same name must not hide.
    var ledgerTable: String { isSQLite ? "main.schema_migrations" : "schema_migrations" }

    /// The names of a table's columns, one a row; no row where there is no such table.
    func columns(of table: String) -> String {
        isSQLite
            ? "SELECT name FROM pragma_table_info('\(table)', 'main')"
            : """
            SELECT attname::text FROM pg_attribute
            WHERE attrelid = to_regclass('\(table)') AND attnum > 0 AND NOT attisdropped
            """
    }

    /// FMDBMigrationManager's table with three columns more, which it can leave out when it inserts.
    var createLedger: String {
        """
        CREATE TABLE \(ledgerTable) (
            version \(isSQLite ? "INTEGER" : "BIGINT") UNIQUE NOT NULL,
            name TEXT,
            checksum TEXT,
            applied_at TEXT
        )
        """
    }

    /// The time now in UTC, as text.
    var now: String {
        isSQLite
            ? "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
            : "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    }
}
