public import AppMigrationsSQLite

/// Rebuilds a table with its rows, for changes that `ALTER TABLE` can't make.
///
/// Nothing that belongs to the table is lost. Rows keep their row ids and the values of the columns that both
/// tables have. Indexes, triggers, the counter of `AUTOINCREMENT` and the statistics of `ANALYZE` are kept.
/// Rows of other tables that refer to the table stay as they are. All of it happens in one transaction, or in
/// a savepoint of your transaction.
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
    /// The new columns that reuse the name of an old column without its values, because the old one was
    /// renamed.
    var reusedNames = Set<SQLName>()

    /// Describes the new table; nothing is read or checked before ``run(_:preparing:)``.
    ///
    /// - Parameters:
    ///   - table: The table's name, in any case of ASCII letters.
    ///   - createTable: The `CREATE TABLE` statement of the new table, under the same name. It is run
    ///     word for word.
    ///   - values: SQL expressions for the values of columns of the new table. They use the names of the old
    ///     columns, and see all tables as they were before the rebuild. A column without an expression keeps
    ///     the value of the old column of the same name, or gets its default. A column needs an expression if
    ///     its new type can change values. To get SQLite's own conversion, pass the column's name as the
    ///     expression.
    ///   - dropping: The names of columns, indexes, triggers and views to drop. If a column and another
    ///     object share a name, it means the column. A name that doesn't exist is ignored. The rebuild is
    ///     refused if the new table lacks a column of the old one, no expression uses the column, and it
    ///     isn't listed here. The same is true of an index of such a column.
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
    /// Outside a transaction, the method turns foreign keys off, runs a transaction of its own, and turns
    /// them on again. In a transaction, such as a migration's, it uses a savepoint, and foreign keys must
    /// already be off. A migrator turns them off itself.
    ///
    /// - Parameters:
    ///   - db: A connection to SQLite: an `SQLiteConnection`, or one of another library that conforms to
    ///     `SQLConnection`.
    ///   - prepare: Registers the functions, collations, tokenizers and modules of your app on a connection,
    ///     as for ``SchemaPlan/init(from:to:hints:preparing:)``. To find out what an expression or a virtual
    ///     table reads, the rebuild opens databases in memory. It calls `prepare` with the `sqlite3 *` of
    ///     each. If a full-text index needs a tokenizer that isn't registered, the rebuild can't refuse a
    ///     change that would leave the index out of date.
    /// - Throws: `SQLError`. The table and the connection's settings are then unchanged, unless the error
    ///   says that the change was committed and only a setting could not be restored.
    ///   `SQLError.Code.refusedSchemaChange` if the change can't be made or would lose something. This is
    ///   found before a row is copied, except for an aggregate function in an expression, which is found
    ///   after the copy. `SQLError.Code.brokenObject` if a view or a trigger would no longer compile,
    ///   `SQLError.Code.foreignKeyViolation` if rows would refer to a missing row, and SQLite's error for a
    ///   row that the new table refuses.
    public func run(
        _ db: some SQLConnection,
        preparing prepare: @escaping @Sendable (OpaquePointer) throws -> Void = { _ in }
    ) throws(SQLError) {
        do throws(SQLError) {
            try SchemaTransaction.run(on: db) { () throws(SQLError) in
                let work = try TableCopy(for: self, on: db, preparing: ConnectionPreparation(prepare))
                let before = try SchemaHealth(of: db, removedColumnNames: work.removedColumnNames)
                try work.run(db)
                let after = try SchemaHealth(of: db, removedColumnNames: work.removedColumnNames)
                try after.check(against: before, advice: "Change it first, or list it in dropping")
            }
        } catch { throw db.addingPath(to: located(error)) }
    }

    /// Adds the table's name to an error.
    ///
    /// Also adds that the table is unchanged, unless the error already says what became of it.
    func located(_ error: SQLError) -> SQLError {
        error.with {
            // The line and the column are positions in statements that the caller doesn't see.
            $0.line = nil
            $0.column = nil
            $0.message = "Rebuilding the table \(table): \($0.message)"
            if $0.outcome == nil, $0.code != .transactionEnded, !$0.message.contains("Nothing was changed") {
                $0.message += ". The table and its rows are as they were"
            }
        }
    }

    func refusal(_ message: String, advice: String) -> SQLError {
        SQLError(.refusedSchemaChange, "\(message). Nothing was changed. \(advice)")
    }
}

extension TableRebuild {
    /// The expressions for the columns of the new table.
    ///
    /// A column without one gets its default.
    func columnValues(from old: TableShape, to new: TableShape) throws(SQLError) -> [TableCopy.ColumnValue] {
        try checkValues(from: old, to: new)
        var columnValues = [TableCopy.ColumnValue]()
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
                    advice: "Add a default to the column, or an expression to values"
                )
            } else {
                continue
            }
            if name == new.rowIDAlias { isRowIDGiven = true }
            columnValues.append(TableCopy.ColumnValue(column: name.quoted, expression: expression))
        }
        // Keep the row ids, because other tables may refer to them. A new INTEGER PRIMARY KEY gets the row
        // ids as its values.
        if !isRowIDGiven, let target = new.rowIDName, let source = old.rowIDName {
            columnValues.insert(TableCopy.ColumnValue(column: target, expression: source), at: 0)
        }
        if columnValues.isEmpty {
            throw refusal(
                "The new table has no column in common with the old one",
                advice: "Keep a column, or drop the table and create another one"
            )
        }
        return columnValues
    }

    /// If rows get new row ids, the name by which SQLite's authorizer reports reads of them; `nil` otherwise.
    func changedRowID(
        from old: TableShape,
        to new: TableShape,
        with columnValues: [TableCopy.ColumnValue]
    ) -> SQLName? {
        guard let source = old.rowIDAlias ?? old.rowIDName.map({ SQLName($0) }) else { return nil }
        let isKept = columnValues.contains { value in
            let tokens = SQLTokens(value.expression)
            let inside = tokens.tokens.indices.filter { !tokens.isSign($0, "(") && !tokens.isSign($0, ")") }
            return value.column == new.rowIDName && inside.count == 1 && tokens.name(inside[0]) == source
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
            if let problem { throw refusal(problem, advice: "Correct the values argument") }
        }
    }
}
