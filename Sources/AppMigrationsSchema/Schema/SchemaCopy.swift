internal import AppMigrationsSQLite

/// A copy of a schema in memory, in which statements are tried.
struct SchemaCopy {
    let db: SQLiteConnection
    /// SQLite's error for the first statement that can't be run here, because it needs a function or a module
    /// of the app.
    private(set) var obstacle: SQLError?

    init(preparing preparation: ConnectionPreparation) throws(SQLError) {
        db = try preparation.makeDatabase()
        try db.query("BEGIN")
    }

    /// Creates the objects of some kinds in the order of these, and leaves out those whose statements fail.
    ///
    /// Virtual tables come after views: a full-text index can take its columns from a view, while SQLite
    /// compiles a view only when the view is read.
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
    /// - Returns: False if the table alone was renamed, and not the references to it: SQLite doesn't rewrite
    ///   those if the schema has a view that doesn't compile. SQLite's error if the table can't be renamed at
    ///   all.
    func rename(_ old: SQLName, to new: SQLName) throws(SQLError) -> Result<Bool, SQLError> {
        let sql = "ALTER TABLE main.\(old.quoted) RENAME TO \(new.quoted)"
        if try failure(of: sql) == nil { return .success(true) }
        db.setLegacyRenaming(true)
        defer { db.setLegacyRenaming(false) }
        return try failure(of: sql).map { .failure($0) } ?? .success(false)
    }
}
