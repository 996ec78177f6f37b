extension LedgerTable {
    /// True if this library or another tool records in this table of SQLite which migrations have run.
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
}
