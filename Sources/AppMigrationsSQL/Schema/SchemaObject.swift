/// An object of an SQLite schema: a row of `sqlite_master` or of `sqlite_temp_master` ("The Schema Table").
package struct SchemaObject: Sendable {
    package enum Kind: String, Sendable { case table, index, view, trigger }

    package let kind: Kind
    package let name: SQLName
    /// The table or view that an index or a trigger belongs to; for a table or a view, its own name.
    package let table: SQLName
    /// The `CREATE` statement; `nil` for the index of a UNIQUE or PRIMARY KEY constraint.
    package let sql: String?
    package let schema: String

    package var qualifiedName: String { "\(schema).\(name.quoted)" }

    /// True for a virtual table.
    package var isVirtual: Bool {
        // Whatever the author wrote before the name, SQLite stores "CREATE VIRTUAL TABLE" with single spaces.
        // So a prefix is compared, and not tokens.
        kind == .table
            && sql?.utf8.prefix(24).map(SQLName.folded).starts(with: Array("create virtual".utf8)) == true
    }

    /// All objects of a schema, such as `main` or `temp`, in the order in which they were created.
    package static func all(of db: some SQLConnection, in schema: String = "main") throws(SQLError)
        -> [SchemaObject]
    {
        try rows(of: db, in: schema, where: "1")
    }

    /// The virtual tables of the schema `main`, without reading the other objects.
    package static func virtualTables(of db: some SQLConnection) throws(SQLError) -> [SchemaObject] {
        try rows(of: db, in: "main", where: "type = 'table' AND sql LIKE 'CREATE VIRTUAL %'")
    }

    private static func rows(
        of db: some SQLConnection,
        in schema: String,
        where condition: String
    ) throws(SQLError) -> [SchemaObject] {
        let list =
            switch schema {
            case "main": "sqlite_master"
            case "temp": "sqlite_temp_master"
            default: "\(schema).sqlite_master"
            }
        let sql = "SELECT type, name, tbl_name, sql FROM \(list) WHERE \(condition) ORDER BY rowid"
        return try db.rows(sql).map {
            row throws(SQLError) in
            guard let kind = Kind(rawValue: try row.text(0)) else {
                throw SQLError(.statementFailed, "\(list) has a row that this library cannot read: \(row)")
            }
            return SchemaObject(
                kind: kind,
                name: SQLName(try row.text(1)),
                table: SQLName(try row.text(2)),
                sql: row[3] == .null ? nil : try row.text(3),
                schema: schema
            )
        }
    }

    /// A name that none of the objects has.
    package static func unusedName(among objects: [SchemaObject]) -> String {
        let taken = Set(objects.map(\.name))
        var number = 1
        while taken.contains(SQLName("app_migrations_\(number)")) { number += 1 }
        return "app_migrations_\(number)"
    }
}
