internal import AppMigrationsSQLite

/// What a new table will be like, as SQLite says of a temporary one that is gone again.
struct TableTrial {
    let shape: TableShape
    /// The columns of the old table that the new one does not have.
    let gone: Set<SQLName>
    /// The first index of the old table that SQLite does not compile for the new one.
    private(set) var broken: (index: SchemaObject, complaint: String)?

    init(
        of statement: CreateStatement,
        instead old: TableShape,
        with indexes: [SchemaObject],
        _ db: some SQLConnection
    ) throws(SQLError) {
        try db.rows("SAVEPOINT app_migrations_trial")
        for object in try SchemaObject.all(of: db, in: "temp")
        where object.name == statement.name && (object.kind == .table || object.kind == .view) {
            try db.rows("DROP \(object.kind == .table ? "TABLE" : "VIEW") \(object.qualifiedName)")
        }
        try db.rows(statement.text(in: "temp"))
        shape = try TableShape(of: statement, in: "temp", db)
        gone = Set(old.columns.map(\.name)).subtracting(shape.columns.map(\.name))
        for index in indexes where broken == nil && !gone.isEmpty {
            let statement = try index.statement()
            // In double quotes, a column that goes would become a text without a word.
            let text = statement.text(
                naming: "temp.app_migrations_trial",
                replacing: statement.doubtful(gone)
            )
            if let complaint = try db.complaint(about: text) { broken = (index, complaint) }
        }
        try db.rows("ROLLBACK TO app_migrations_trial")
        try db.rows("RELEASE app_migrations_trial")
    }
}
