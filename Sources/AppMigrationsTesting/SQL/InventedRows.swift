import AppMigrationsSQL

/// The rows that a rehearsal inserts into the tables of a release that have none.
///
/// SQLite refuses some changes only if the table has a row, for example a new column that is `NOT NULL` and
/// has no default ("ALTER TABLE ADD COLUMN"). So a migration that succeeds in an empty database may fail for
/// every user.
struct InventedRows {
    /// The tables that got a row.
    private(set) var tables = [SQLName]()

    /// The tables that no row could be invented for, each with SQLite's error.
    private(set) var failures = [(table: SQLName, message: String)]()

    /// Inserts a row into each empty table, except virtual tables, the tables `ignored`, and the ledgers of
    /// other tools.
    ///
    /// A column that may be NULL stays NULL, and a column with a default gets it: the schema allows such a
    /// row, so a user may have it.
    init(in db: some SQLConnection, ignoring ignored: [SQLName]) throws {
        let schema = try SQLSchema(of: db)
        var left = schema.objects.filter { table in
            table.kind == .table && !table.isVirtual && !ignored.contains(table.name)
                && !schema.ledgersOfOtherTools.contains(table.name)
        }
        // A row may need a row of another table, to which it refers. So this is repeated until no table gets
        // a row.
        var isChanged = true
        while isChanged {
            isChanged = false
            failures = []
            for table in left {
                if try !db.query("SELECT 1 FROM main.\(table.name.quoted) LIMIT 1").isEmpty { continue }
                if let message = try Self.failure(ofInsertingInto: table, in: db) {
                    failures.append((table.name, message))
                } else {
                    tables.append(table.name)
                    isChanged = true
                }
            }
            left = left.filter { table in failures.contains { $0.table == table.name } }
        }
    }

    /// Inserts a row.
    ///
    /// - Returns: SQLite's error for the first row that was tried; `nil` if a row was inserted.
    private static func failure(
        ofInsertingInto table: SchemaObject,
        in db: some SQLConnection
    ) throws -> String? {
        let columns = try neededColumns(of: table, in: db)
        let names = columns.map(\.name.quoted).joined(separator: ", ")
        let target = "INSERT INTO main.\(table.name.quoted)"
        var failure: String?
        for values in Values.all(of: table) {
            let row = columns.map { $0.parent ?? values.literal(forType: $0.type) }.joined(separator: ", ")
            let sql = columns.isEmpty ? "\(target) DEFAULT VALUES" : "\(target) (\(names)) VALUES (\(row))"
            do {
                _ = try db.query(sql)
                return nil
            } catch {
                failure = failure ?? SQLError.wrapped(error, as: .statementFailed).message
            }
        }
        return failure
    }

    /// A column that needs a value.
    private struct Column {
        let name: SQLName
        /// The declared type, in upper case.
        let type: String
        /// For a reference to another table: a query for a value of that table.
        let parent: String?
    }

    /// The columns of the primary key, and those that are `NOT NULL` and have no default.
    private static func neededColumns(of table: SchemaObject, in db: some SQLConnection) throws -> [Column] {
        let parents = try parents(of: table, in: db)
        let sql = """
            SELECT name, upper(type) FROM pragma_table_xinfo(?, 'main')
            WHERE hidden = 0 AND (pk > 0 OR "notnull" AND dflt_value IS NULL)
            """
        return try db.query(sql, [.text(table.name.text)]).map { row in
            let name = SQLName(try row[0].value(as: String.self))
            return Column(name: name, type: try row[1].value(as: String.self), parent: parents[name])
        }
    }

    /// A query for a value of the other table, for each column that refers to one.
    private static func parents(of table: SchemaObject, in db: some SQLConnection) throws -> [SQLName: String]
    {
        let sql = """
            SELECT "from", "table", coalesce("to", (SELECT name FROM pragma_table_info("table", 'main') WHERE pk = seq + 1))
            FROM pragma_foreign_key_list(?, 'main')
            """
        var parents = [SQLName: String]()
        for row in try db.query(sql, [.text(table.name.text)]) {
            let parent = SQLName(try row[1].value(as: String.self))
            // A row that refers to itself gets equal values, because they are chosen by the type.
            guard parent != table.name, case .text(let key) = row[2] else { continue }
            parents[SQLName(try row[0].value(as: String.self))] =
                "(SELECT \(SQLName(key).quoted) FROM main.\(parent.quoted) LIMIT 1)"
        }
        return parents
    }

    /// The values of an invented row, by the types of its columns.
    private struct Values {
        let integer: String
        let text: String

        /// Values to try, one after the other.
        ///
        /// The first number is one that no migration uses as the id of a row that it inserts. The other
        /// values are for `CHECK` constraints. The last ones are the numbers and texts of the `CREATE`
        /// statement.
        static func all(of table: SchemaObject) -> [Values] {
            let tokens = SQLTokens(table.sql ?? "")
            func texts(_ kind: SQLTokens.Kind) -> [String] {
                tokens.tokens.indices.filter { tokens.tokens[$0].kind == kind }.map(tokens.text)
            }
            let numbers = texts(.other).filter { $0.allSatisfy(\.isNumber) }
            let words = ["'invented'", "''", "'2000-01-01'", "'{}'", "'1'"] + texts(.text)
            return words.flatMap { word in
                (["1000003", "1", "0"] + numbers).map { Values(integer: $0, text: word) }
            }
        }

        /// A literal for a declared type, by SQLite's rules ("Determination Of Column Affinity").
        func literal(forType type: String) -> String {
            if type.contains("INT") { return integer }
            if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) { return text }
            if type.contains("BLOB") { return "x'00'" }
            return type.isEmpty || type == "ANY" ? text : integer
        }
    }
}
