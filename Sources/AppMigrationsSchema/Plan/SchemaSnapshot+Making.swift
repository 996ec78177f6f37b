internal import AppMigrations
internal import AppMigrationsSQLite

extension SchemaSnapshot {
    /// The target that was run last in this process: to run 600 statements takes SQLite some 30 ms, too long for each start of a
    /// store.
    private static let last = Guarded<(target: String, schema: SchemaSnapshot)?>(nil)

    /// The schema that a target makes, with the database in memory where it had to be run.
    static func known(by target: String) throws(SQLError) -> (schema: SchemaSnapshot, db: SQLiteConnection?) {
        let known = last.withLock { $0 }
        if let known, known.target.utf8.elementsEqual(target.utf8) { return (known.schema, nil) }
        let (schema, db) = try made(by: target)
        last.withLock { $0 = (target, schema) }
        return (schema, db)
    }

    /// The schema that a target makes, with the database in memory in which it has been run.
    static func made(by target: String) throws(SQLError) -> (schema: SchemaSnapshot, db: SQLiteConnection) {
        let db = try SQLiteConnection(path: ":memory:")
        // In a transaction, a script that would attach a file or begin another is refused.
        try db.query("BEGIN")
        try db.execute(script: target)
        let schema = try SchemaSnapshot(of: db)
        try schema.checkIsSchemaAlone(in: db)
        return (schema, db)
    }

    /// Refuses a target with more than a schema in it, which nothing would make in the database.
    private func checkIsSchemaAlone(in db: SQLiteConnection) throws(SQLError) {
        if let object = try SchemaObject.all(of: db, in: "temp").first {
            throw SQLError(
                .refusedSchemaChange,
                "The target makes the temporary \(object.kind) \(object.name), which goes with its connection."
                    + " Nothing was changed. Take it out of the target"
            )
        }
        for table in objects where table.kind == .table && !table.isVirtual {
            if try db.query("SELECT 1 FROM main.\(table.name.quoted) LIMIT 1").isEmpty { continue }
            throw SQLError(
                .refusedSchemaChange,
                "The target puts rows into the table \(table.name), and a plan makes tables without rows."
                    + " Nothing was changed. Insert them in a migration"
            )
        }
    }
}
