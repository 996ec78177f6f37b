internal import AppMigrationsSQLite

/// A copy of a schema in memory, to find out what `ALTER TABLE` does there.
///
/// Each table that changes has one row, since SQLite takes some new columns only where there is none
/// ("ALTER TABLE ADD COLUMN"). A schema that cannot be copied, because it needs a function or a module of
/// the app, accepts nothing: its tables are rebuilt.
struct ScratchSchema {
    private let db: SQLiteConnection
    /// Why the schema could not be copied.
    private var obstacle: SQLError?
    /// The tables that could not get a row.
    private var unfilled = Set<SQLName>()

    init(of schema: SchemaSnapshot, filling tables: [TableShape], _ source: some SQLConnection)
        throws(SQLError)
    {
        db = try SQLiteConnection(path: ":memory:")
        // A row is made of any values; what they must satisfy is not the question.
        try db.query("PRAGMA ignore_check_constraints = ON")
        try db.query("BEGIN")
        do throws(SQLError) {
            for object in schema.objects where object.kind == .table {
                try db.query(try object.statement().text(in: "main"))
            }
            for table in tables { try fill(table, from: source) }
            for kind in [SchemaObject.Kind.index, .view, .trigger] {
                for object in schema.objects where object.kind == kind {
                    try db.query(try object.statement().text(in: "main"))
                }
            }
        } catch  where error.code == .statementFailed {
            obstacle = error
        }
    }

    /// Puts a row of the database into a table, or one of made-up values where it has none.
    private mutating func fill(_ table: TableShape, from source: some SQLConnection) throws(SQLError) {
        let columns = table.columns.filter { !$0.isGenerated }
        let names = columns.map(\.name.quoted).joined(separator: ", ")
        if names.isEmpty { return }
        // In UTF-8 a text need not be one that a connection can read, so that its bytes are taken. SQLite makes sound
        // UTF-8 of any text in UTF-16.
        let isChecked = try source.rows("PRAGMA encoding").first?.first == "UTF-8"
        let isText = columns.map { "\(isChecked ? "typeof(\($0.name.quoted)) = 'text'" : "0")" }
        let values = zip(columns, isText).map { column, isText in
            let name = column.name.quoted
            return isChecked ? "CASE WHEN \(isText) THEN CAST(\(name) AS BLOB) ELSE \(name) END" : name
        }
        // Not in one row, which might have more columns than SQLite allows.
        let (rows, kinds) = (
            try source.rows(
                "SELECT \(values.joined(separator: ", ")) FROM main.\(table.name.quoted) LIMIT 1"
            ),
            try source.rows("SELECT \(isText.joined(separator: ", ")) FROM main.\(table.name.quoted) LIMIT 1")
        )
        let madeUp = columns.map { column -> SQLValue in
            switch table.affinity(of: column) {
            case .number: 1
            case .real: 1.5
            case .text: "x"
            case .none: .blob([0])
            }
        }
        let parameters = columns.indices.map { index in
            kinds.first?[index] == 1 ? "CAST(?\(index + 1) AS TEXT)" : "?\(index + 1)"
        }
        do throws(SQLError) {
            try db.query(
                "INSERT INTO main.\(table.name.quoted)(\(names)) VALUES (\(parameters.joined(separator: ", ")))",
                rows.first ?? madeUp
            )
        } catch  where error.code == .statementFailed {
            unfilled.insert(table.name)
        }
    }

    /// Runs a statement, and says whether SQLite took it.
    func accepts(_ sql: String) throws(SQLError) -> Bool {
        if obstacle != nil { return false }
        do throws(SQLError) {
            try db.query(sql)
            return true
        } catch  where error.code == .statementFailed {
            return false
        }
    }

    /// Renames a table and leaves alone what refers to it.
    func rename(_ table: SQLName, _ sql: String) throws(SQLError) {
        var failure = obstacle
        if failure == nil {
            db.setLegacyRenaming(true)
            defer { db.setLegacyRenaming(false) }
            do throws(SQLError) {
                try db.query(sql)
            } catch {
                failure = error
            }
        }
        guard let failure else { return }
        throw SQLError(
            .refusedSchemaChange,
            "The table \(table) cannot be renamed: \(failure.message). Nothing was changed. Rename it in a migration"
        )
    }

    /// The schema as it is here now; `former` where it could not be copied.
    func snapshot(instead former: SchemaSnapshot) throws(SQLError) -> SchemaSnapshot {
        obstacle == nil ? try SchemaSnapshot(of: db) : former
    }

    /// True if a table has a value that a column would have converted, or refused.
    ///
    /// ALTER gives the rows that are there a default as it is written, and INSERT converts it.
    private func hasUnconverted(_ table: SQLName) throws(SQLError) -> Bool {
        let kinds = ["NUMERIC value in ", "TEXT value in ", "non-"]
        return try db.query("PRAGMA integrity_check(\(table.quoted))").contains { row in
            guard case .text(let text) = row[0] else { return false }
            return kinds.contains { text.hasPrefix($0) }
        }
    }

    /// The steps that add the columns of a change, where the table is then the target's.
    func adding(
        _ change: TableChange,
        as wanted: SchemaObject,
        _ form: SchemaForm
    ) throws(SQLError) -> [SchemaPlan.Step]? {
        let added = change.addedColumns
        if obstacle != nil || unfilled.contains(change.old.name) || added.isEmpty { return nil }
        let statement = try wanted.statement()
        var steps = [SchemaPlan.Step]()
        try db.query("SAVEPOINT app_migrations_adding")
        for column in added {
            guard let definition = statement.definition(of: column) else { break }
            let sql = "ALTER TABLE main.\(wanted.name.quoted) ADD COLUMN \(definition)"
            guard try accepts(sql) else { break }
            steps.append(.init("add the column \(column) to the table \(wanted.name)", .statement(sql)))
        }
        if let mine = try SchemaSnapshot(of: db)[.table, wanted.name], form.areSame(mine, wanted),
            try !hasUnconverted(wanted.name)
        {
            try db.query("RELEASE app_migrations_adding")
            return steps
        }
        try db.query("ROLLBACK TO app_migrations_adding")
        try db.query("RELEASE app_migrations_adding")
        return nil
    }
}
