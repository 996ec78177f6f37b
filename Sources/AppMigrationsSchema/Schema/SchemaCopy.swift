internal import AppMigrationsSQLite

/// A copy of a schema in memory, in which SQLite is asked what it takes.
struct SchemaCopy {
    let db: SQLiteConnection
    /// SQLite's words for the first statement that does not run here, since it needs a function or a module of the app.
    private(set) var obstacle: SQLError?

    init(preparing preparation: ConnectionPreparation) throws(SQLError) {
        db = try preparation.makeDatabase()
        try db.query("BEGIN")
    }

    /// Makes the objects of some kinds; those that do not run are left out.
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

    /// Renames a table where SQLite takes it, and says whether what refers to it followed: a view that was broken before
    /// stands in the way.
    func rename(_ old: SQLName, to new: SQLName) throws(SQLError) -> Result<Bool, SQLError> {
        let sql = "ALTER TABLE main.\(old.quoted) RENAME TO \(new.quoted)"
        if try failure(of: sql) == nil { return .success(true) }
        db.setLegacyRenaming(true)
        defer { db.setLegacyRenaming(false) }
        return try failure(of: sql).map { .failure($0) } ?? .success(false)
    }
}
