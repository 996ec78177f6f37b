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
        ignored = Set(names.map { Self.folded($0) })
    }

    /// The first difference between two databases, in plain words.
    ///
    /// Both are opened as an app opens them, so that what a killed process left in a journal counts. Whole tables are
    /// read into memory.
    ///
    /// - Parameters:
    ///   - expected: The path of the database as it should be.
    ///   - found: The path of the one that is looked at.
    /// - Returns: The rest of a sentence that begins with the file's path; `nil` where nothing differs.
    /// - Throws: `SQLError` when one of them isn't there or can't be read.
    public func difference(expected: String, found: String) throws(SQLError) -> String? {
        let wanted = try SQLiteContents(ofFile: expected)
        let given = try SQLiteContents(ofFile: found)
        if let difference = try schemaDifference(wanted, given) { return difference }
        let tables = wanted.tables.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for table in tables where !ignored.contains(Self.folded(table)) && table != "app_migrations" {
            if let difference = try rowDifference(in: table, wanted, given) { return difference }
        }
        return nil
    }

    private func schemaDifference(_ expected: SQLiteContents, _ found: SQLiteContents) throws(SQLError)
        -> String?
    {
        let wanted = expected.objects
        let given = found.objects
        let form = SchemaForm(expected.schema, found.schema)
        let names = Set(wanted.keys).union(given.keys).subtracting([Array("table app_migrations".utf8)])
        for bytes in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let name = String(decoding: bytes, as: UTF8.self)
            switch (wanted[bytes], given[bytes]) {
            case (nil, _): return "has the \(name), which should not be there"
            case (_, nil): return "lacks the \(name)"
            case (let old?, let new?) where !form.areSame(old, new):
                return "has another \(name): \(SQLiteContents.change(from: old.line, to: new.line))"
            default: continue
            }
        }
        for number in ["user_version", "application_id"] {
            let sql = "PRAGMA \(number)"
            let (old, new) = (try expected.db.number(sql), try found.db.number(sql))
            if old != new { return "has the \(number) \(new) and not \(old)" }
        }
        return nil
    }

    private func rowDifference(in table: String, _ expected: SQLiteContents, _ found: SQLiteContents)
        throws(SQLError) -> String?
    {
        let columns = try expected.columns(of: table).filter { column in
            let name = Self.folded("\(table).\(column)")
            return !ignored.contains(name) && name != "schema_migrations.applied_at"
        }
        if columns.isEmpty { return nil }
        let wanted = try expected.rows(of: table, columns)
        let given = try found.rows(of: table, columns)
        let missing = SQLiteContents.first(of: wanted, notIn: given)
        let extra = SQLiteContents.first(of: given, notIn: wanted)
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

    private static func folded(_ name: String) -> String { name.lowercased() }
}
