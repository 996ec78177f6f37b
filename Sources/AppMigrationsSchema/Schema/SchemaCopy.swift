internal import AppMigrationsSQLite

/// A copy of a schema in memory, in which statements can be tried.
struct SchemaCopy {
    let db: SQLiteConnection
    /// SQLite's error for the first statement that can't run here, because it needs a function or a module of
    /// the app.
    private(set) var obstacle: SQLError?

    init(preparing preparation: ConnectionPreparation) throws(SQLError) {
        db = try preparation.makeDatabase()
        try db.query("BEGIN")
    }

    /// Creates the objects of some kinds, except those whose statements can't run here.
    mutating func make(_ kinds: [SchemaObject.Kind], of objects: [SchemaObject]) throws(SQLError) {
        for kind in kinds {
            for object in objects where object.kind == kind && object.sql != nil {
                let failure = try failure(of: object.statement().text(in: object.schema))
                obstacle = obstacle ?? failure
            }
        }
    }

    /// Runs a statement, and returns SQLite's error if it fails.
    func failure(of sql: String) throws(SQLError) -> SQLError? { try db.failure(of: sql) }

    /// Renames a table, and returns whether views, triggers and references follow.
    ///
    /// They don't if SQLite refuses that, for example because of a view that was broken before.
    func rename(_ old: SQLName, to new: SQLName) throws(SQLError) -> Result<Bool, SQLError> {
        let sql = "ALTER TABLE main.\(old.quoted) RENAME TO \(new.quoted)"
        if try failure(of: sql) == nil { return .success(true) }
        db.setLegacyRenaming(true)
        defer { db.setLegacyRenaming(false) }
        return try failure(of: sql).map { .failure($0) } ?? .success(false)
    }
}
