extension LedgerTable {
    /// True if this library records in a table of SQLite what has run.
    ///
    /// With `ledger:`, such a table can have any name, and is recognized by its columns. A table that has
    /// only the column `version`, or only `version` and `name`, may also be a table of the app. So it counts
    /// only if it is named `schema_migrations`.
    package static func isRecord(_ table: SchemaObject, in db: some SQLConnection) throws(SQLError) -> Bool {
        if [SQLName("schema_migrations"), SQLName("app_migrations")].contains(table.name) { return true }
        // SQLite needs the module of a virtual table to read its columns.
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
