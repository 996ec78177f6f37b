internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

/// A row of `sqlite_master` or of `sqlite_temp_master` ("The Schema Table").
struct SchemaObject {
    enum Kind: String { case table, index, view, trigger }

    let kind: Kind
    let name: SQLName
    /// The table or view of an index or a trigger; of others, their own name.
    let table: SQLName
    /// `nil` for the indexes that constraints make.
    let sql: String?
    let schema: String

    var qualifiedName: String { "\(schema).\(name.quoted)" }

    /// All objects of a schema, `main` or `temp`, in the order of their making.
    static func all(of db: some SQLConnection, in schema: String = "main") throws(SQLError) -> [SchemaObject]
    {
        let list = schema == "main" ? "sqlite_master" : "sqlite_temp_master"
        var objects = [SchemaObject]()
        for row in try db.rows("SELECT type, name, tbl_name, sql FROM \(list) ORDER BY rowid") {
            guard let kind = Kind(rawValue: try row.text(0)) else {
                throw SQLError(.statementFailed, "\(list) has a row that this library cannot read: \(row)")
            }
            let object = SchemaObject(
                kind: kind,
                name: SQLName(try row.text(1)),
                table: SQLName(try row.text(2)),
                sql: row[3] == .null ? nil : try row.text(3),
                schema: schema
            )
            objects.append(object)
        }
        return objects
    }

    /// A name that none of the objects has.
    static func unusedName(among objects: [SchemaObject]) -> String {
        let taken = Set(objects.map(\.name))
        var number = 1
        while taken.contains(SQLName("app_migrations_\(number)")) { number += 1 }
        return "app_migrations_\(number)"
    }

    func statement() throws(SQLError) -> CreateStatement {
        guard let sql, let statement = CreateStatement(sql) else {
            throw SQLError(
                .statementFailed,
                "The schema has no CREATE statement that this library can read for the \(kind) \(name): \(sql ?? "none")"
            )
        }
        return statement
    }
}

extension SQLiteConnection {
    /// Sets `legacy_alter_table`, also where SQLite has ended the transaction and no statement runs.
    func setLegacyRenaming(_ on: Bool) {
        // The call fails for options that SQLite doesn't know, and this one is known since 3.26.
        app_migrations_db_config(handle, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, on ? 1 : 0, nil)
    }

    /// Sets `cache_spill`, also where SQLite has ended the transaction.
    func setSpilling(_ pages: Int64) {
        unlessClosed { sqlite3_exec(handle, "PRAGMA cache_spill = \(pages)", nil, nil, nil) }
    }

    /// Reads the schema also where statements in it do not compile ("PRAGMA writable_schema").
    func setUnreadableSchemaAllowed() {
        app_migrations_db_config(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nil)
    }

    /// Leaves a write-ahead log as it is when the last connection closes.
    func keepLogOnClose() { app_migrations_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nil) }
}

extension SQLConnection {
    /// Tells an error which database it is about, where this library opened it.
    func naming(_ error: SQLError) -> SQLError { (self as? SQLiteConnection)?.naming(error) ?? error }

    /// The whole number that a query gives.
    func number(_ sql: String) throws(SQLError) -> Int64 { try SQLConversation(self).number(sql) }

    /// The texts that a query gives, one a row.
    func texts(_ sql: String) throws(SQLError) -> [String] {
        try rows(sql).map { row throws(SQLError) in try row.text(0) }
    }

    /// Runs `body` in a savepoint that is taken back.
    func takingBack<Value>(_ body: () throws(SQLError) -> Value) throws(SQLError) -> Value {
        try rows("SAVEPOINT app_migrations_probe")
        let value = try body()
        try rows("ROLLBACK TO app_migrations_probe")
        try rows("RELEASE app_migrations_probe")
        return value
    }
}

extension SQLiteConnection {
    /// Runs a statement, and returns SQLite's error if it fails.
    func failure(of sql: String) throws(SQLError) -> SQLError? {
        do throws(SQLError) {
            try query(sql)
            return nil
        } catch  where error.code == .statementFailed { return error }
    }
}

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
