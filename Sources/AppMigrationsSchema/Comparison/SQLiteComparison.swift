public import AppMigrationsSQLite

/// Compares two SQLite databases by what they hold, schema and rows, and not by their bytes.
///
/// It is for the tests of an app's migrations: the same rows are laid out otherwise in a file that was altered than in
/// a new one. A rehearsal of `AppMigrationsTesting` takes it as a rule for the paths of databases:
///
/// ```swift
/// let rule = ComparisonRule.comparing(
///     "**.sqlite",
///     by: SQLiteComparison(ignoring: ["notes.changed_at"]).difference
/// )
/// ```
///
/// Rows are compared as a set, whatever their order and their `rowid`, and `CREATE` texts without blanks, comments, the
/// capitals of keywords and the quotes of names. The `user_version` and the `application_id` count. What SQLite or this
/// library keep for themselves doesn't: `sqlite_sequence` and statistics, the tables in which a virtual table keeps its
/// data, `applied_at` of `schema_migrations`, and the table `app_migrations`, whose rows tell from where a database
/// came.
public struct SQLiteComparison: Sendable {
    private let ignored: Set<String>

    /// Says what may differ.
    ///
    /// - Parameter names: Tables (`cache`) and columns (`notes.changed_at`) whose rows and values may differ; their
    ///   `CREATE` texts may not.
    public init(ignoring names: [String] = []) {
        ignored = Set(names.map { $0.lowercased() })
    }

    /// The first difference between two databases, in plain words.
    ///
    /// Both are opened as an app opens them, so that what a killed process left in a journal counts.
    ///
    /// - Parameters:
    ///   - expected: The path of the database as it should be.
    ///   - found: The path of the one that is looked at.
    /// - Returns: The rest of a sentence that begins with the file's path; `nil` where nothing differs.
    /// - Throws: `SQLError` when one of them isn't there or can't be read, or has another encoding: SQLite attaches none then.
    public func difference(expected: String, found: String) throws(SQLError) -> String? {
        let wanted = try SQLiteContents(ofFile: expected)
        let given = try SQLiteContents(ofFile: found)
        if let difference = try schemaDifference(wanted, given) { return difference }
        let tables = wanted.schema.objects.filter { $0.kind == .table }.map(\.name)
            .sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
        try wanted.db.query("ATTACH ? AS found", [.text(given.db.path)])
        for table in tables {
            if ignored.contains(table.text.lowercased()) || table.text == "app_migrations" { continue }
            if let difference = try rowDifference(in: table, wanted) { return difference }
        }
        return nil
    }

    private func schemaDifference(_ expected: SQLiteContents, _ found: SQLiteContents) throws(SQLError)
        -> String?
    {
        let differences = found.schema.differences(from: expected.schema)
            .filter { $0.name != "table app_migrations" }
        // By bytes: equal strings of Swift may be two names of SQLite, which differ in how an accent is written.
        if let first = differences.min(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            switch first {
            case .missing: return "lacks the \(first.name)"
            case .further: return "has the \(first.name), which should not be there"
            case .other(let new, let old):
                let change = SQLiteContents.change(from: old.line, to: new.line)
                return "has a different \(first.name): \(change)"
            }
        }
        for number in ["user_version", "application_id"] {
            let sql = "PRAGMA \(number)"
            let (old, new) = (try expected.db.number(sql), try found.db.number(sql))
            if old != new { return "has the \(number) \(new) and not \(old)" }
        }
        return nil
    }

    /// The first difference from the rows in the attached database `found`.
    private func rowDifference(in table: SQLName, _ expected: SQLiteContents) throws(SQLError) -> String? {
        let pragma = "pragma_table_xinfo(\(SQLValue.text(table.text)))"
        let all = try expected.db.texts("SELECT name FROM \(pragma) WHERE hidden <> 1 ORDER BY cid")
        let columns = all.filter { column in
            let name = "\(table).\(column)".lowercased()
            return !ignored.contains(name) && name != "schema_migrations.applied_at"
        }
        if columns.isEmpty { return nil }
        // By bytes, whatever the collation of a column, and each value with its type.
        let names = columns.map { SQLName($0).quoted }
        let keys = names.map { "\($0) COLLATE BINARY" } + names.map { "typeof(\($0))" }
        let values = keys.joined(separator: ", ")
        let rows = ["main", "found"].map { schema in
            // Rows that are equal get numbers, so that one too many counts.
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
        case (let row?, nil): return "lacks a row of \(table): \(SQLiteContents.shown(row, columns))"
        case (nil, let row?):
            return "has a row of \(table) that should not be there: \(SQLiteContents.shown(row, columns))"
        case (let old?, let new?) where old[0].utf8.elementsEqual(new[0].utf8):
            let changes = SQLiteContents.changes(from: old, to: new, columns).joined(separator: ", ")
            return "has in the row of \(table) with \(columns[0]) \(SQLiteContents.cut(old[0])) \(changes)"
        case (let old?, let new?):
            let (new, old) = (SQLiteContents.shown(new, columns), SQLiteContents.shown(old, columns))
            return "has the row of \(table) \(new) and not \(old)"
        }
    }
}

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
    /// - Parameters:
    ///   - target: Statements that make the whole schema in an empty database, as for ``SchemaPlan``.
    ///   - prepare: Called with the `sqlite3 *` of each private connection, before statements run there, as for
    ///     ``SchemaPlan/init(from:to:hints:preparing:)``.
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
    /// The differences for migrations that run on a connection of another library.
    ///
    /// - Parameters:
    ///   - target: Statements that make the whole schema in an empty database.
    ///   - db: A connection to an empty SQLite database, in which the migrations run and stay.
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
        let made = try SchemaSnapshot(of: db, preparing: preparation).leavingAlone(
            what: wanted,
            ledger: ledger
        )
        return made.differences(from: wanted).map { difference in
            let name = difference.name
            switch difference {
            case .missing: return "The migrations make no \(name)."
            case .further: return "The migrations make the \(name), which the target doesn't have."
            case .other(let mine, let wanted):
                let change = SQLiteContents.change(from: wanted.line, to: mine.line)
                return "The migrations make a different \(name): \(change)."
            }
        }
    }
}
