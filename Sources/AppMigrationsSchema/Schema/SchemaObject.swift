internal import AppMigrationsSQLite

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
            guard row.count == 4, case .text(let type) = row[0], let kind = Kind(rawValue: type),
                case .text(let name) = row[1], case .text(let table) = row[2]
            else {
                throw SQLError(.statementFailed, "\(list) has a row that this library cannot read: \(row)")
            }
            var sql: String?
            if case .text(let text) = row[3] { sql = text }
            let object = SchemaObject(
                kind: kind,
                name: SQLName(name),
                table: SQLName(table),
                sql: sql,
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

    /// The statement that made it.
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
