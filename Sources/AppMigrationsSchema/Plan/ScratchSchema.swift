internal import AppMigrationsSQLite

/// A copy of a schema in memory, to find out which changes `ALTER TABLE` can make.
///
/// Each table that changes gets one row, because SQLite adds some columns only to a table without rows
/// ("ALTER TABLE ADD COLUMN"). Without the row, SQLite would accept such a column here and refuse it in the
/// app's table. If the schema can't be copied, because it needs a function or a module of the app, no
/// statement is accepted here. Then the tables are rebuilt.
struct ScratchSchema {
    private var copy: SchemaCopy
    private let preparation: ConnectionPreparation
    /// The changing tables into which no row could be inserted.
    private var tablesWithoutRow = Set<SQLName>()

    init(
        of schema: SchemaSnapshot,
        insertingRowInto tables: [TableShape],
        preparing preparation: ConnectionPreparation
    ) throws(SQLError) {
        self.preparation = preparation
        copy = try SchemaCopy(preparing: preparation)
        // The rows have arbitrary values, which may not satisfy a CHECK.
        try copy.db.query("PRAGMA ignore_check_constraints = ON")
        try copy.make([.table, .view], of: schema.objects)
        for table in tables where try copy.failure(of: Self.insertStatement(for: table)) != nil {
            tablesWithoutRow.insert(table.name)
        }
        try copy.make([.index, .trigger], of: schema.objects)
    }

    /// A statement that inserts one row with arbitrary values.
    private static func insertStatement(for table: TableShape) -> String {
        let columns = table.columns.filter { !$0.isGenerated }
        let values = columns.map { column in
            // Each of these values is valid JSON, because an index may read it as JSON.
            switch table.affinity(of: column) {
            case .number, .real: "1"
            case .text: "'1'"
            case .none: SQLName(column.type) == SQLName("BLOB") ? "x'31'" : "'1'"
            }
        }
        let names = columns.map(\.name.quoted).joined(separator: ", ")
        return "INSERT INTO main.\(table.name.quoted)(\(names)) VALUES (\(values.joined(separator: ", ")))"
    }

    /// Runs a statement, and returns whether SQLite accepted it.
    func accepts(_ sql: String) throws(SQLError) -> Bool {
        if copy.obstacle != nil { return false }
        return try copy.failure(of: sql) == nil
    }

    /// Renames a table.
    ///
    /// - Returns: True if SQLite has also changed the views, triggers and foreign keys that refer to it.
    func rename(_ table: SQLName, to new: SQLName) throws(SQLError) -> Bool {
        do throws(SQLError) {
            if let obstacle = copy.obstacle { throw obstacle }
            switch try copy.rename(table, to: new) {
            case .renamedWithReferences: return true
            case .renamedAlone: return false
            case .refused(let error): throw error
            }
        } catch {
            let advice = error.registrationAdvice.map { "\($0), or rename the table" } ?? "Rename it"
            throw SQLError(
                .refusedSchemaChange,
                "The table \(table) cannot be renamed: \(error.message). Nothing was changed. \(advice) in a migration"
            )
        }
    }

    /// The present schema of the copy; `former` if the schema couldn't be copied.
    func snapshot(orIfNotCopied former: SchemaSnapshot) throws(SQLError) -> SchemaSnapshot {
        copy.obstacle == nil ? try SchemaSnapshot(of: copy.db, preparing: preparation) : former
    }

    /// True if an UPDATE would convert or refuse the value that the existing row has in a new column.
    ///
    /// ALTER TABLE gives existing rows the default without converting it to the column's type.
    private func hasUnconverted(_ columns: [SQLName], of table: SQLName) throws(SQLError) -> Bool {
        if columns.isEmpty { return false }
        let names = columns.map(\.quoted)
        let selection = "SELECT \(names.joined(separator: ", ")) FROM main.\(table.quoted)"
        let settings = names.map { "\($0) = \($0)" }.joined(separator: ", ")
        let before = try copy.db.query(selection)
        return try copy.db.inRolledBackSavepoint { () throws(SQLError) -> Bool in
            if try copy.failure(of: "UPDATE main.\(table.quoted) SET \(settings)") != nil { return true }
            return try copy.db.query(selection) != before
        }
    }

    /// The steps that add the new columns of a table; `nil` if the table would then differ from the target.
    func stepsAddingColumns(
        of change: TableChange,
        to wanted: SchemaObject,
        comparedBy form: SchemaForm
    ) throws(SQLError) -> [SchemaPlan.Step]? {
        let added = change.addedColumns
        if copy.obstacle != nil || tablesWithoutRow.contains(change.old.name) || added.isEmpty { return nil }
        let statement = try wanted.statement()
        var steps = [SchemaPlan.Step]()
        try copy.db.query("SAVEPOINT app_migrations_adding")
        for column in added {
            guard let definition = statement.definition(of: column) else { break }
            let sql = "ALTER TABLE main.\(wanted.name.quoted) ADD COLUMN \(definition)"
            guard try accepts(sql) else { break }
            steps.append(.init("add the column \(column) to the table \(wanted.name)", .statement(sql)))
        }
        if let mine = try SchemaSnapshot(of: copy.db, preparing: preparation)[.table, wanted.name],
            form.areSame(mine, wanted),
            try !hasUnconverted(added.filter { change.new[$0]?.isGenerated == false }, of: wanted.name)
        {
            try copy.db.query("RELEASE app_migrations_adding")
            return steps
        }
        try copy.db.query("ROLLBACK TO app_migrations_adding")
        try copy.db.query("RELEASE app_migrations_adding")
        return nil
    }
}
