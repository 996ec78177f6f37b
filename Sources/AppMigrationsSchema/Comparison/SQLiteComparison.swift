public import AppMigrationsSQLite

/// Compares two SQLite databases by their schema and their rows, and not by their bytes.
///
/// Use it in the tests of an app's migrations. A migrated database stores the same rows in other pages than a
/// new database. In a rehearsal of `AppMigrationsTesting`, pass it as the comparison rule for database files:
///
/// ```swift
/// let rule = ComparisonRule.comparing(
///     "**.sqlite",
///     by: SQLiteComparison(ignoring: ["notes.changed_at"]).difference
/// )
/// ```
///
/// Rows are compared as a set, without their order and their `rowid`. `CREATE` statements are compared
/// without blanks, comments, the case of keywords and the quotes of names. The `user_version` and the
/// `application_id` are compared as well. Internal data of SQLite and of this library is ignored:
/// `sqlite_sequence` and statistics, the tables in which a virtual table keeps its data, `applied_at` of
/// `schema_migrations`, and the table `app_migrations`, whose rows depend on the version from which a
/// database was upgraded. Tables in which other migration tools, such as Alembic, keep their records are
/// ignored as well.
public struct SQLiteComparison: Sendable {
    private let ignored: Set<String>

    /// Creates a comparison with the differences that are allowed.
    ///
    /// - Parameter names: Tables (`cache`) and columns (`notes.changed_at`) whose contents may differ. Their
    ///   `CREATE` statements are still compared.
    public init(ignoring names: [String] = []) {
        ignored = Set(names.map { $0.lowercased() })
    }

    /// The first difference between two databases, in plain words.
    ///
    /// Both are opened as an app opens them, so a journal that a killed process left is rolled back.
    ///
    /// - Parameters:
    ///   - expected: The path of the database as it should be.
    ///   - found: The path of the database to examine.
    /// - Returns: The difference, worded to follow the file's path, such as "lacks the table notes"; `nil` if
    ///   nothing differs.
    /// - Throws: `SQLError` if a database is missing or can't be read, or if the text encodings of the two
    ///   differ, because SQLite can't attach such a database.
    public func difference(expected: String, found: String) throws(SQLError) -> String? {
        let wanted = try SQLiteContents(ofFile: expected)
        let given = try SQLiteContents(ofFile: found)
        if let difference = try schemaDifference(of: given, from: wanted) { return difference }
        let tables = wanted.schema.objects.filter { $0.kind == .table }.map(\.name)
            .sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
        try wanted.db.query("ATTACH ? AS found", [.text(given.db.path)])
        for table in tables {
            if ignored.contains(table.text.lowercased()) || table.text == "app_migrations" { continue }
            if let difference = try rowDifference(in: table, from: wanted) { return difference }
        }
        return nil
    }

    private func schemaDifference(of found: SQLiteContents, from expected: SQLiteContents) throws(SQLError)
        -> String?
    {
        let differences = found.schema.differences(from: expected.schema)
            .filter { $0.name != "table app_migrations" }
        // Compare bytes. Swift treats two strings as equal even if they encode an accented letter
        // differently, but SQLite treats them as different names.
        if let first = differences.min(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            switch first {
            case .missing: return "lacks the \(first.name)"
            case .unexpected: return "has the \(first.name), which should not be there"
            case .different(let new, let old):
                let change = SQLiteContents.change(from: old.line, to: new.line)
                return "has a different \(first.name): \(change)"
            }
        }
        for number in ["user_version", "application_id"] {
            let sql = "PRAGMA \(number)"
            let old = try expected.db.number(sql)
            let new = try found.db.number(sql)
            if old != new { return "has the \(number) \(new) and not \(old)" }
        }
        return nil
    }

    /// The first row of a table that differs between `expected` and the attached database `found`.
    private func rowDifference(in table: SQLName, from expected: SQLiteContents) throws(SQLError) -> String? {
        let pragma = "pragma_table_xinfo(\(SQLValue.text(table.text)))"
        let all = try expected.db.texts("SELECT name FROM \(pragma) WHERE hidden <> 1 ORDER BY cid")
        let columns = all.filter { column in
            let name = "\(table).\(column)".lowercased()
            return !ignored.contains(name) && name != "schema_migrations.applied_at"
        }
        if columns.isEmpty { return nil }
        // Values are compared by their bytes, whatever the collation of the column, and with their types.
        let names = columns.map { SQLName($0).quoted }
        let keys = names.map { "\($0) COLLATE BINARY" } + names.map { "typeof(\($0))" }
        let values = keys.joined(separator: ", ")
        let rows = ["main", "found"].map { schema in
            // Duplicate rows are numbered, so that EXCEPT also finds a different number of duplicates.
            "SELECT \(values), row_number() OVER (PARTITION BY \(values)) FROM \(schema).\(table.quoted)"
        }
        let order = columns.indices.map { "\($0 + 1)" }.joined(separator: ", ")
        func first(_ rows: String, notIn others: String) throws(SQLError) -> [String]? {
            try expected.db.query("\(rows) EXCEPT \(others) ORDER BY \(order) LIMIT 1").first?
                .prefix(columns.count).map(\.description)
        }
        let missing = try first(rows[0], notIn: rows[1])
        let extra = try first(rows[1], notIn: rows[0])
        switch (missing, extra) {
        case (nil, nil): return nil
        case (let row?, nil):
            return "lacks a row of \(table): \(SQLiteContents.description(of: row, columns: columns))"
        case (nil, let row?):
            return
                "has a row of \(table) that should not be there: \(SQLiteContents.description(of: row, columns: columns))"
        case (let old?, let new?) where old[0].utf8.elementsEqual(new[0].utf8):
            let changes = SQLiteContents.changes(from: old, to: new, columns: columns).joined(separator: ", ")
            return
                "has a different row of \(table) with \(columns[0]) \(SQLiteContents.excerpt(old[0])): \(changes)"
        case (let old?, let new?):
            let new = SQLiteContents.description(of: new, columns: columns)
            let old = SQLiteContents.description(of: old, columns: columns)
            return "has the row of \(table) \(new) and not \(old)"
        }
    }
}

extension SQLMigrator where Connection == SQLiteConnection {
    /// Compares the schema that the migrations create in an empty database with a target, and describes each
    /// difference.
    ///
    /// Use it in the tests of an app that has both migrations and the SQL of its schema:
    ///
    /// ```swift
    /// #expect(try migrator.schemaDifferences(from: schema) == [])
    /// ```
    ///
    /// The migrations run in memory. `CREATE` statements are compared as ``SchemaPlan`` does it, and the
    /// migrators' own tables are ignored. `ALTER TABLE` adds columns at the end, so write the columns of the
    /// target in that order.
    ///
    /// - Parameters:
    ///   - target: Statements that create the whole schema in an empty database, as for ``SchemaPlan``.
    ///   - prepare: Called with the `sqlite3 *` of each private connection, before statements run there, as
    ///     for ``SchemaPlan/init(from:to:hints:preparing:)``.
    /// - Returns: A sentence for each object that differs; none if both agree.
    /// - Throws: `SQLError` of a migration, of the target or of `prepare`.
    public func schemaDifferences(
        from target: String,
        preparing prepare: @escaping @Sendable (OpaquePointer) throws -> Void = { _ in }
    ) throws(SQLError) -> [String] {
        let db = try ConnectionPreparation(prepare).makeDatabase()
        return try schemaDifferences(from: target, in: db, preparing: prepare)
    }
}

extension SQLMigrator where Connection: SQLConnection {
    /// Describes the differences for migrations that run on a connection of another library.
    ///
    /// - Parameters:
    ///   - target: Statements that create the whole schema in an empty database.
    ///   - db: A connection to an empty SQLite database. The migrations run in it, and their changes remain.
    ///   - prepare: Called with the `sqlite3 *` of each private connection, before the target runs there.
    /// - Returns: A sentence for each object that differs; none if both agree.
    /// - Throws: `SQLError` of a migration, of the target or of `prepare`.
    public func schemaDifferences(
        from target: String,
        in db: Connection,
        preparing prepare: @escaping @Sendable (OpaquePointer) throws -> Void = { _ in }
    ) throws(SQLError) -> [String] {
        let preparation = ConnectionPreparation(prepare)
        let wanted = try SchemaSnapshot.made(by: target, preparing: preparation).schema
        try migrate(db)
        let made = try SchemaSnapshot(of: db, preparing: preparation).withoutLedgers(
            unlessIn: wanted,
            ledger: ledger
        )
        return made.differences(from: wanted).map { difference in
            let name = difference.name
            switch difference {
            case .missing: return "The migrations make no \(name)."
            case .unexpected: return "The migrations make the \(name), which the target doesn't have."
            case .different(let mine, let wanted):
                let change = SQLiteContents.change(from: wanted.line, to: mine.line)
                return "The migrations make a different \(name): \(change)."
            }
        }
    }
}
