public import AppMigrationsSQLite

extension SQLMigrator where Connection == SQLiteConnection {
    /// The differences between the schema that the migrations make of an empty database and a target, in words.
    ///
    /// It is for the test of an app that has both, migrations and the SQL of its schema:
    ///
    /// ```swift
    /// #expect(try migrator.schemaDifferences(from: schema) == [])
    /// ```
    ///
    /// The migrations run in memory. `CREATE` texts are compared as ``SchemaPlan`` does, and the tables of ledgers are left out.
    /// `ALTER TABLE` adds columns at the end, so write the target in the order in which the migrations leave them.
    ///
    /// - Parameter target: Statements that make the whole schema in an empty database, as for ``SchemaPlan``.
    /// - Returns: A sentence for each object that differs; none where both agree.
    /// - Throws: `SQLError` of a migration or of the target.
    public func schemaDifferences(from target: String) throws(SQLError) -> [String] {
        try schemaDifferences(from: target, in: SQLiteConnection(path: ":memory:"))
    }
}

extension SQLMigrator where Connection: SQLConnection {
    /// The differences for migrations that run on a connection of another library.
    ///
    /// - Parameters:
    ///   - target: Statements that make the whole schema in an empty database.
    ///   - db: A connection to an empty SQLite database, in which the migrations run and stay.
    /// - Returns: A sentence for each object that differs; none where both agree.
    /// - Throws: `SQLError` of a migration or of the target.
    public func schemaDifferences(from target: String, in db: Connection) throws(SQLError) -> [String] {
        let wanted = try SchemaSnapshot.made(by: target).schema
        try migrate(db)
        let made = try SchemaSnapshot(of: db).leavingAlone(what: wanted, ledger: ledger)
        let form = SchemaForm(wanted, made)
        var differences = [String]()
        for object in wanted.objects {
            guard let mine = made[object.kind, object.name] else {
                differences.append("The migrations make no \(object.kind) \(object.name).")
                continue
            }
            if form.areSame(mine, object) { continue }
            let change = SQLiteContents.change(from: object.line, to: mine.line)
            differences.append("The migrations make another \(object.kind) \(object.name): \(change).")
        }
        for object in made.objects where wanted[object.kind, object.name] == nil {
            differences.append(
                "The migrations make the \(object.kind) \(object.name), which the target has not."
            )
        }
        return differences
    }
}
