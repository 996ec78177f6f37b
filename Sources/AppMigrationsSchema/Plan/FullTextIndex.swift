internal import AppMigrationsSQLite

/// A full-text index that stores no rows of its own and is filled from other tables.
///
/// That is an external-content index: FTS5 with `content='notes'`, FTS4 with `content="notes"`. SQLite
/// creates it empty, and the index's command `rebuild` fills it. An index with rows of its own needs no
/// filling, and for a contentless index there is nothing to fill it from.
enum FullTextIndex {
    /// The statement that fills an index again from its tables ("The 'rebuild' Command").
    static func rebuildCommand(for index: SQLName) -> String {
        "INSERT INTO main.\(index.quoted)(\(index.quoted)) VALUES ('rebuild')"
    }

    /// The tables from which an index is filled; empty for any other virtual table.
    ///
    /// The command is run in `db`, a private database with the objects of `schema`, and an authorizer records
    /// which tables it reads. An index with rows of its own reads only its shadow tables, which `schema`
    /// doesn't have, so the result is empty.
    static func contentTables(
        of index: SQLName,
        in db: SQLiteConnection,
        schema: SchemaSnapshot
    ) throws(SQLError) -> [SQLName] {
        var failure: SQLError?
        let reads = try db.inRolledBackSavepoint { () throws(SQLError) in
            try db.reads { () throws(SQLError) in failure = try db.failure(of: rebuildCommand(for: index)) }
        }
        if failure != nil { return [] }
        var tables = [SQLName]()
        for name in reads.map(\.table) where name != index && !tables.contains(name) {
            if let table = schema[.table, name] { tables.append(table.name) }
        }
        return tables
    }
}
