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

    /// The result of renaming a table.
    enum RenameResult {
        /// SQLite has also rewritten the references to the table.
        case renamedWithReferences
        /// SQLite has renamed only the table, because the schema has a view or a trigger that doesn't
        /// compile.
        case renamedAlone
        /// SQLite can't rename the table at all.
        case refused(SQLError)
    }

    /// Renames a table, with the references to it if SQLite can do that.
    func rename(_ old: SQLName, to new: SQLName) throws(SQLError) -> RenameResult {
        let sql = "ALTER TABLE main.\(old.quoted) RENAME TO \(new.quoted)"
        if try failure(of: sql) == nil { return .renamedWithReferences }
        db.setLegacyRenaming(true)
        defer { db.setLegacyRenaming(false) }
        return try failure(of: sql).map { .refused($0) } ?? .renamedAlone
    }
}
