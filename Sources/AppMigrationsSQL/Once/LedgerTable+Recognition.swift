extension LedgerTable {
    /// True if this library or another migration tool keeps its records in this table of SQLite.
    ///
    /// A table named `schema_migrations` or `app_migrations` always is such a table. With `ledger:`, a table
    /// of this library can have any name. Then it has exactly the columns with which this library creates it.
    /// A table of another tool has the tool's name and columns. Other columns may belong to a table of the
    /// app.
    package static func isLedger(
        _ table: SchemaObject,
        in session: some SQLSession
    ) throws(SQLError) -> Bool {
        if [SQLName("schema_migrations"), SQLName("app_migrations")].contains(table.name) { return true }
        // The columns of a virtual table can't be read without its module.
        if table.isVirtual { return false }
        var columns = Set<SQLName>()
        for row in try session.columns(of: table.name.text) { columns.insert(SQLName(try row.text(0))) }
        let ownLedgers = [AppMigrationsTable.ownColumns, SQLLedger.ownColumns]
        if ownLedgers.contains(where: { columns == Set($0.map { SQLName($0.name) }) }) { return true }
        return KnownLedger.contains(table.name, columns: columns)
    }

    /// The tables in which other migration tools keep their records, recognized by their names and columns.
    ///
    /// The table of FMDBMigrationManager isn't one of them, because it is a ledger of this library, too. It
    /// has a single column of an integer type. The one of Rails has another type.
    package static func ledgersOfOtherTools(
        among objects: [SchemaObject],
        in db: some SQLConnection
    ) throws(SQLError) -> Set<SQLName> {
        var ledgers = Set<SQLName>()
        for table in objects
        where table.kind == .table && KnownLedger.tables.contains(table.name) && !table.isVirtual {
            let name = SQLValue.text(table.name.text)
            let rows = try db.rows("SELECT name, type FROM pragma_table_info(\(name), 'main')")
            if rows.count == 1, valueType(of: try rows[0].text(1)) == .integer { continue }
            var columns = Set<SQLName>()
            for row in rows { columns.insert(SQLName(try row.text(0))) }
            if KnownLedger.contains(table.name, columns: columns) { ledgers.insert(table.name) }
        }
        return ledgers
    }
}
