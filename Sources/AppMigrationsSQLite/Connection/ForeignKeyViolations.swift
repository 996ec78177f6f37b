internal import AppMigrationsSQL

/// The foreign key violations in a database at one moment.
///
/// A migration may leave violations that were already there, but must not add any. The migrator takes one
/// snapshot before a migration and one after it, and compares them with ``violationsAdded(since:)``.
package struct ForeignKeyViolations {
    /// A table's identity and definition.
    ///
    /// If a table is dropped and created again, its `schemaRowID` differs.
    struct Table: Equatable {
        /// The rowid of the table's entry in `sqlite_master`.
        ///
        /// The root page can't identify a table: with `auto_vacuum`, it changes when another table is
        /// dropped.
        let schemaRowID: SQLValue
        let createStatement: SQLValue
    }

    /// The result of checking one table.
    struct TableResult {
        /// The rows of `PRAGMA foreign_key_check`: child table, rowid, parent table, and index of the foreign
        /// key.
        ///
        /// The index is needed because two foreign keys of one table can refer to the same parent.
        var rows = SQLRows()

        /// SQLite's error, if it couldn't check this table.
        ///
        /// For example, a foreign key may match no unique index of the parent.
        var checkError: SQLError?
    }

    var tables = [SQLName: Table]()

    /// The tables that have violations or couldn't be checked, and no others.
    var results = [SQLName: TableResult]()

    init() {}

    /// Checks a whole database.
    package init(in db: SQLiteConnection) throws(SQLError) {
        let check = ForeignKeyCheck(SQLiteSession(SQLConversation(db)))
        try check.checkAll()
        self = check.violations
    }

    /// True if every table could be checked and has no violations.
    var isEmpty: Bool { results.isEmpty }

    /// The tables of ``results``, in the order of their names.
    private var tablesWithResults: [SQLName] { results.keys.sorted { $0.text < $1.text } }

    /// The first violation that `before` didn't have, as an error to throw; `nil` if there is none.
    ///
    /// Violations are compared by table, rowid and foreign key, with these exceptions:
    /// - If a table was created again, its rows may have new rowids, so only the number of violations is
    ///   compared.
    /// - A table that has disappeared may have been renamed, also to the name of a table that was renamed or
    ///   dropped. So the new tables and the tables that were created again may together have as many added
    ///   violations as the tables that disappeared had.
    /// - If a table was renamed, and its former name belongs to another table now, the number of its
    ///   violations is compared with that under the former name.
    /// - A table that SQLite couldn't check before isn't compared, because any number of its rows may have
    ///   been violations.
    package func violationsAdded(since before: ForeignKeyViolations) -> SQLError? {
        if let error = checkErrorAdded(since: before) { return error }
        var allowance = before.allowanceForRenames(to: tables)
        for table in tablesWithResults where before.results[table]?.checkError == nil {
            let rows = possiblyAddedRows(in: table, since: before, allowance: &allowance)
            if rows.isEmpty { continue }
            let list = description(of: rows, in: table)
            return SQLError(.foreignKeyViolation, "This would leave rows that refer to missing rows: \(list)")
        }
        return nil
    }

    /// SQLite's error for a table that it can't check any more.
    ///
    /// After a rename, the old error appears under a new name. So an error counts as new only if there are
    /// more errors than before.
    private func checkErrorAdded(since before: ForeignKeyViolations) -> SQLError? {
        if checkErrorCount <= before.checkErrorCount { return nil }
        let newErrors = tablesWithResults.compactMap { table in
            before.results[table]?.checkError == nil ? results[table]?.checkError : nil
        }
        return newErrors.first
    }

    private var checkErrorCount: Int { results.values.count { $0.checkError != nil } }

    /// The number of violations in tables that are missing from `tables`; `nil`, for no limit, if SQLite
    /// couldn't check one of the missing tables.
    private func allowanceForRenames(to tables: [SQLName: Table]) -> Int? {
        var allowance = 0
        for (name, result) in results where tables[name] == nil {
            if result.checkError != nil { return nil }
            allowance += result.rows.count
        }
        return allowance
    }

    /// The rows of a table that may be new violations.
    ///
    /// If only the numbers of rows can be compared, these are all violations of the table. A table that is
    /// new or was created again uses up `allowance`.
    private func possiblyAddedRows(
        in name: SQLName,
        since before: ForeignKeyViolations,
        allowance: inout Int?
    ) -> SQLRows {
        guard let rows = results[name]?.rows, !rows.isEmpty else { return [] }
        let table = tables[name]
        let tableBefore = before.tables[name]
        if let table, let tableBefore, table.schemaRowID == tableBefore.schemaRowID {
            // If a parent was renamed, this table's statement has changed, and its violations have the
            // parent's new name. Then only rowids are compared.
            return Self.rows(
                rows,
                notIn: before.results[name]?.rows ?? [],
                comparingReferences: table == tableBefore
            )
        }
        if tableBefore != nil, before.mayHave(rows.count, in: name) { return [] }
        // A rename doesn't change the rowid of the entry in `sqlite_master`.
        let formerName = before.tables.first { $0.value.schemaRowID == table?.schemaRowID }?.key
        if let formerName, tables[formerName] != nil, before.mayHave(rows.count, in: formerName) { return [] }
        guard let allowed = allowance else { return [] }
        let added = rows.count - (before.results[name]?.rows.count ?? 0)
        allowance = allowed - added
        return added > allowed ? rows : []
    }

    /// True if a table has at least this number of violations, or if SQLite couldn't check it.
    private func mayHave(_ count: Int, in name: SQLName) -> Bool {
        guard let result = results[name] else { return count == 0 }
        return result.checkError != nil || result.rows.count >= count
    }

    /// Removes each row of `before` once from `rows`, and returns the rest.
    ///
    /// Equal rows are counted, because in a table without rowids, all violations of one foreign key are
    /// equal.
    private static func rows(_ rows: SQLRows, notIn before: SQLRows, comparingReferences: Bool) -> SQLRows {
        func comparedColumns(of row: [SQLValue]) -> [SQLValue] {
            let rowID = row[1]
            return comparingReferences ? row : [rowID]
        }
        var counts = [[SQLValue]: Int]()
        for row in before { counts[comparedColumns(of: row), default: 0] += 1 }
        return rows.filter { row in
            let count = counts[comparedColumns(of: row)] ?? 0
            counts[comparedColumns(of: row)] = count - 1
            return count < 1
        }
    }

    /// One sentence for each table that has violations or couldn't be checked.
    var sentences: [String] {
        tablesWithResults.compactMap { name in
            guard let result = results[name] else { return nil }
            if let error = result.checkError { return error.message }
            let rows = result.rows
            return description(of: rows, in: name) + (rows.count > 3 ? "; and \(rows.count - 3) more" : "")
        }
    }

    /// Describes the first three violations, with rowids so that a developer can find the rows.
    private func description(of rows: SQLRows, in table: SQLName) -> String {
        rows.prefix(3).map { row in
            let rowID = row[1]
            let parent = String.reading(row[2]) ?? ""
            if case .integer(let rowID) = rowID {
                return "\(table) (rowid \(rowID)) refers to a missing row of \(parent)"
            }
            return "a row of \(table) refers to a missing row of \(parent)"
        }.joined(separator: "; ")
    }
}
