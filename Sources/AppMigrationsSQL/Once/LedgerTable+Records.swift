extension LedgerTable {
    /// True if this library records in this table of SQLite which migrations have run.
    ///
    /// - A table named `schema_migrations` or `app_migrations` always is such a table.
    /// - With `ledger:`, it can have any name, and is recognized by its columns.
    /// - The column `version` alone, or only with `name`, isn't enough, because such a table may belong to
    ///   the app.
    package static func isLedger(_ table: SchemaObject, in db: some SQLConnection) throws(SQLError) -> Bool {
        if [SQLName("schema_migrations"), SQLName("app_migrations")].contains(table.name) { return true }
        // The columns of a virtual table can't be read without its module.
        if table.isVirtual { return false }
        var columns = Set<String>()
        let name = SQLValue.text(table.name.text)
        for row in try db.rows("SELECT name FROM pragma_table_info(\(name), 'main')") {
            columns.insert(try row.text(0).lowercased())
        }
        if columns.isSuperset(of: ["manager", "version"]) {
            return columns.isSubset(of: AppMigrationsTable.ownColumns)
        }
        return columns.contains("version") && columns.isSubset(of: SQLLedger.ownColumns)
            && !columns.isDisjoint(with: ["checksum", "applied_at"])
    }
}
