internal import AppMigrationsSQLite

/// A copy of a schema in memory, in which SQLite is asked what it takes.
struct SchemaCopy {
    let db: SQLiteConnection
    /// SQLite's words for the first statement that does not run here, since it needs a function or a module of the app.
    private(set) var obstacle: SQLError?

    init() throws(SQLError) {
        db = try SQLiteConnection(path: ":memory:")
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

    /// Runs a statement; gives SQLite's error where it is not taken.
    func failure(of sql: String) throws(SQLError) -> SQLError? {
        do throws(SQLError) {
            try db.query(sql)
            return nil
        } catch  where error.code == .statementFailed { return error }
    }

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
