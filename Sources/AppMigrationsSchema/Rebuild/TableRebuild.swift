public import AppMigrationsSQLite

/// Rebuilds a table with its rows, for what `ALTER TABLE` cannot do.
///
/// Nothing that belongs to the table is lost. The columns that both tables have are copied with their row
/// ids. Indexes, triggers, the counter of `AUTOINCREMENT` and the statistics of `ANALYZE` are kept. Rows of
/// other tables that refer to the table stay as they are. All of it happens in one transaction, or in a
/// savepoint of your transaction.
///
/// ```sql
/// CREATE TABLE t_AppUser (
///     u_id INTEGER PRIMARY KEY,
///     u_name TEXT NOT NULL,
///     u_last_name TEXT
/// )
/// ```
///
/// The guide <doc:ChangingATable> shows how.
public struct TableRebuild: Sendable {
    let table: SQLName
    let createTable: String
    let values: [(column: SQLName, expression: String)]
    let dropping: [SQLName]
    /// The new columns that have the name of an old column, but not its values: another column keeps those.
    var fresh = Set<SQLName>()

    /// Describes the new table; nothing is read or checked before ``run(_:preparing:)``.
    ///
    /// - Parameters:
    ///   - table: The table's name, in any case of ASCII letters.
    ///   - createTable: The `CREATE TABLE` statement of the new table, under the same name. It is run
    ///     word for word.
    ///   - values: SQL expressions for the values of columns of the new table. They use the old columns, and
    ///     read all tables as they were. A column without an expression keeps the value of the old column of
    ///     the same name, or gets its default. A column whose new type can change values needs an expression:
    ///     its name alone means SQLite's own conversion.
    ///   - dropping: The names of columns, indexes, triggers and views to drop. A name that is also a
    ///     column's means the column, and a name of nothing is ignored. A column of the old table that is
    ///     neither in the new one nor in an expression, and an index of it, are refused unless they are named
    ///     here.
    public init(
        _ table: String,
        as createTable: String,
        values: [String: String] = [:],
        dropping: [String] = []
    ) {
        self.table = SQLName(table)
        self.createTable = createTable
        self.values = values.map { (SQLName($0.key), $0.value) }.sorted { $0.column.text < $1.column.text }
        self.dropping = dropping.map { SQLName($0) }
    }

    /// Rebuilds the table.
    ///
    /// Outside of a transaction it turns foreign keys off, begins one, commits, and turns them on again.
    /// In a transaction, such as a migration's, it uses a savepoint, and foreign keys must be off already: a
    /// migrator sees to it.
    ///
    /// - Parameters:
    ///   - db: A connection to SQLite: an `SQLiteConnection`, or one of another library that conforms to
    ///     `SQLConnection`.
    ///   - prepare: Registers the functions, collations, tokenizers and modules of your app on a connection,
    ///     as for ``SchemaPlan/init(from:to:hints:preparing:)``. To find out what an expression or a virtual
    ///     table reads, the rebuild opens databases in memory. It calls `prepare` with the `sqlite3 *` of
    ///     each. If a full-text index needs a tokenizer that isn't registered, the rebuild can't refuse a
    ///     change that the index doesn't follow.
    /// - Throws: `SQLError`, after which the table and the connection's settings are as they were, unless it
    ///   says that the change is committed and only a setting could not be set back:
    ///   `SQLError.Code.refusedSchemaChange` for what cannot be done or would lose something, found before a
    ///   row is copied; `SQLError.Code.brokenObject` for a view or a trigger that would no longer compile,
    ///   `SQLError.Code.foreignKeyViolation` for rows that would refer to a missing row, and SQLite's error
    ///   for a row that the new table refuses.
    public func run(
        _ db: some SQLConnection,
        preparing prepare: @escaping @Sendable (OpaquePointer) throws -> Void = { _ in }
    ) throws(SQLError) {
        do throws(SQLError) {
            try SchemaTransaction.run(on: db) { () throws(SQLError) in
                let work = try TableCopy(for: self, on: db, preparing: ConnectionPreparation(prepare))
                let before = try SchemaHealth(of: db, gone: work.gone)
                try work.run(db)
                let after = try SchemaHealth(of: db, gone: work.gone)
                try after.check(against: before, dropping: "Change it first, or name it in dropping:")
            }
        } catch { throw db.addingPath(to: located(error)) }
    }

    /// Adds to an error the table's name and that nothing was changed, unless the error says more.
    func located(_ error: SQLError) -> SQLError {
        error.with {
            // The line and the column would be places in statements that the caller doesn't see.
            $0.line = nil
            $0.column = nil
            $0.message = "Rebuilding the table \(table): \($0.message)"
            if $0.outcome == nil, $0.code != .transactionEnded, !$0.message.contains("Nothing was changed") {
                $0.message += ". The table and its rows are as they were"
            }
        }
    }

    func refusal(_ message: String, _ advice: String) -> SQLError {
        SQLError(.refusedSchemaChange, "\(message). Nothing was changed. \(advice)")
    }
}

extension TableRebuild {
    /// The expressions for the columns of the new table.
    ///
    /// A column without one gets its default.
    func fillings(from old: TableShape, to new: TableShape) throws(SQLError) -> [TableCopy.Filling] {
        try checkValues(from: old, to: new)
        var fillings = [TableCopy.Filling]()
        var isRowIDGiven = new.isWithoutRowID
        for column in new.columns where !column.isGenerated {
            let name = column.name
            let expression: String
            if let value = values.first(where: { $0.column == name }) {
                // The line end closes a comment that the expression may end with.
                expression = "(\(value.expression)\n)"
            } else if let before = keptColumn(for: column, in: old) {
                expression = before.name.quoted
            } else if column.isNotNull, !column.hasDefault, name != new.rowIDAlias {
                throw refusal(
                    "The new column \(name) is NOT NULL, and has neither a default nor a value",
                    "Give one of them, a value in values:"
                )
            } else {
                continue
            }
            if name == new.rowIDAlias { isRowIDGiven = true }
            fillings.append(TableCopy.Filling(column: name.quoted, expression: expression))
        }
        // Other tables may refer to row ids, and a new INTEGER PRIMARY KEY takes them over.
        if !isRowIDGiven, let target = new.rowIDName, let source = old.rowIDName {
            fillings.insert(TableCopy.Filling(column: target, expression: source), at: 0)
        }
        if fillings.isEmpty {
            throw refusal("The new table has no column of the old one", "Give it one, or drop the table")
        }
        return fillings
    }

    /// The name that SQLite's authorizer uses for the row ids, if rows get new ones; `nil` if they keep
    /// theirs.
    func changedRowID(
        from old: TableShape,
        to new: TableShape,
        with fillings: [TableCopy.Filling]
    ) -> SQLName? {
        guard let source = old.rowIDAlias ?? old.rowIDName.map({ SQLName($0) }) else { return nil }
        let isKept = fillings.contains { filling in
            let tokens = SQLTokens(filling.expression)
            let inside = tokens.tokens.indices.filter { !tokens.isSign($0, "(") && !tokens.isSign($0, ")") }
            return filling.column == new.rowIDName && inside.count == 1 && tokens.name(inside[0]) == source
        }
        return isKept ? nil : old.rowIDAlias ?? SQLName("ROWID")
    }

    private func checkValues(from old: TableShape, to new: TableShape) throws(SQLError) {
        var given = Set<SQLName>()
        for (column, expression) in values {
            let problem: String? =
                switch new[column] {
                case nil: "There is a value for \(column), which is not a column of the new table"
                case let target? where target.isGenerated:
                    "There is a value for \(column), which is a generated column"
                case _ where !given.insert(column).inserted: "There are two values for the column \(column)"
                case _ where SQLTokens(expression).tokens.isEmpty: "The value for \(column) is empty"
                default: nil
                }
            if let problem { throw refusal(problem, "Correct values:") }
        }
    }
}
