internal import AppMigrationsSQLite

/// An in-memory database with a copy of a schema, for trying statements.
struct SchemaCopy {
    let db: SQLiteConnection
    /// SQLite's error for the first `CREATE` statement that can't be run here, because it needs a function or
    /// a module of the app; `nil` if the copy is complete.
    private(set) var obstacle: SQLError?

    init(preparing preparation: ConnectionPreparation) throws(SQLError) {
        db = try preparation.makeDatabase()
        try db.query("BEGIN")
    }

    /// Creates the objects of the given kinds, one kind after the other; an object whose statement fails is
    /// left out.
    ///
    /// If tables are among the kinds, the virtual tables are created after the views, because a full-text
    /// index can take its columns from a view. A view of a virtual table is no problem: SQLite compiles a
    /// view only when it is read.
    mutating func make(_ kinds: [SchemaObject.Kind], of objects: [SchemaObject]) throws(SQLError) {
        for kind in kinds {
            try make(objects.filter { $0.kind == kind && !$0.isVirtual })
            let isLastBeforeVirtual = kinds.contains(.view) ? kind == .view : kind == .table
            if isLastBeforeVirtual, kinds.contains(.table) { try make(objects.filter(\.isVirtual)) }
        }
    }

    private mutating func make(_ objects: [SchemaObject]) throws(SQLError) {
        for object in objects where object.sql != nil {
            let failure = try failure(of: object.statement().text(in: object.schema))
            obstacle = obstacle ?? failure
        }
    }

    /// Runs a statement, and returns SQLite's error if it fails.
    func failure(of sql: String) throws(SQLError) -> SQLError? { try db.failure(of: sql) }

    /// Renames a table.
    ///
    /// - Returns: True if SQLite has also rewritten the references to the table. False if it renamed only the
    ///   table, because the schema has a view that doesn't compile. SQLite's error if the table can't be
    ///   renamed at all.
    func rename(_ old: SQLName, to new: SQLName) throws(SQLError) -> Result<Bool, SQLError> {
        let sql = "ALTER TABLE main.\(old.quoted) RENAME TO \(new.quoted)"
        if try failure(of: sql) == nil { return .success(true) }
        db.setLegacyRenaming(true)
        defer { db.setLegacyRenaming(false) }
        return try failure(of: sql).map { .failure($0) } ?? .success(false)
    }
}
