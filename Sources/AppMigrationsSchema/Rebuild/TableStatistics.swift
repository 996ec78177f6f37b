internal import AppMigrationsSQLite

/// What `ANALYZE` found out about a table, which goes with it when it is dropped.
///
/// Without it the queries of an app may become slower by far until `ANALYZE` is run again.
struct TableStatistics {
    private struct List {
        let table: String
        let columns: [String]
        let rows: [[SQLValue]]
    }

    private let old: TableShape
    private var lists = [List]()

    init(of table: TableShape, _ db: some SQLConnection) throws(SQLError) {
        old = table
        // "sqlite_stat4" is there only where SQLite was built for it.
        for object in try SchemaObject.all(of: db)
        where ["sqlite_stat1", "sqlite_stat4"].contains(object.name.text) {
            var columns = [String]()
            for row in try db.rows("PRAGMA main.table_info(\(object.name.quoted))") {
                if case .text(let name) = row[1] { columns.append(name) }
            }
            let rows = try db.rows(
                "SELECT \(columns.joined(separator: ", ")) FROM main.\(object.name.text) WHERE tbl = ? COLLATE NOCASE",
                [.text(table.name.text)]
            )
            lists.append(List(table: object.name.text, columns: columns, rows: rows))
        }
    }

    /// Writes it again, for the table and for the indexes that hold the same as before.
    func restore(for table: SQLName, in db: some SQLConnection) throws(SQLError) {
        let statement = try SchemaObject.all(of: db).first { $0.kind == .table && $0.name == table }?
            .statement()
        guard !lists.allSatisfy({ $0.rows.isEmpty }), let statement else { return }
        let new = try TableShape(of: statement, in: "main", db)
        for list in lists {
            try db.rows("DELETE FROM main.\(list.table) WHERE tbl = ? COLLATE NOCASE", [.text(table.text)])
            let parameters = list.columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
            let names = list.columns.joined(separator: ", ")
            for row in list.rows where isStillTrue(row, new) {
                try db.rows(
                    "INSERT INTO main.\(list.table)(\(names)) VALUES (\(parameters))",
                    [.text(table.text)] + row.dropFirst()
                )
            }
        }
        // Makes the connection read it ("The sqlite_stat1 Table").
        try db.rows("ANALYZE main.sqlite_master")
    }

    /// A row is the table's name, the index's, and the numbers; one of a table without rowids has its name
    /// for its primary key.
    private func isStillTrue(_ row: [SQLValue], _ new: TableShape) -> Bool {
        guard row.count > 1, case .text(let text) = row[1] else { return true }
        func parts(_ table: TableShape) -> [[SQLValue]]? {
            if SQLName(text) == table.name, table.isWithoutRowID {
                return table.indexes.first { $0.origin == "pk" }?.parts
            }
            return table.index(SQLName(text))?.parts
        }
        guard let before = parts(old), let after = parts(new) else { return false }
        return before == after
    }
}
