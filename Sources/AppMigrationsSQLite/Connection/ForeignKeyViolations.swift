internal import AppMigrationsSQL

/// The foreign key violations in a database at one moment.
///
/// A migration may leave violations that existed before it, but must not add any. So this value is taken
/// before and after it, and ``violationsAdded(since:)`` compares the two.
package struct ForeignKeyViolations {
    /// Identifies a table: a table that was dropped and created again has another `schemaRowID`.
    struct Table: Equatable {
        /// The rowid of the table's entry in `sqlite_master`.
        ///
        /// The root page would not do: with `auto_vacuum`, it changes when another table is dropped.
        let schemaRowID: SQLValue
        let createStatement: SQLValue
    }

    /// The violations in one table.
    struct OfTable {
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
    var violations = [SQLName: OfTable]()

    init() {}

    /// Checks a whole database.
    package init(in db: SQLiteConnection) throws(SQLError) {
        let check = ForeignKeyCheck(SQLiteSession(SQLConversation(db)))
        try check.checkAll()
        self = check.violations
    }

    /// True if every reference leads to a row.
    var isEmpty: Bool { violations.isEmpty }

    /// The tables of ``violations``, in the order of their names.
    private var tablesWithViolations: [SQLName] { violations.keys.sorted { $0.text < $1.text } }

    /// The first violation that `before` didn't have, as an error to throw; `nil` if there is none.
    ///
    /// Violations are compared by table, rowid and foreign key, with these exceptions:
    /// - If a table was created again, its rows may have new rowids, so only the number of violations is
    ///   compared.
    /// - A table that is missing now may have been renamed. So new tables may have as many violations, all
    ///   together, as the missing tables had.
    /// - A table that SQLite couldn't check before isn't compared: any number of its rows may have been
    ///   violations.
    package func violationsAdded(since before: ForeignKeyViolations) -> SQLError? {
        if let error = checkErrorAdded(since: before) { return error }
        var allowance = before.allowanceForRenames(to: tables)
        for table in tablesWithViolations where before.violations[table]?.checkError == nil {
            let rows = rowsAdded(in: table, since: before, allowance: &allowance)
            if rows.isEmpty { continue }
            let list = description(of: rows, in: table)
            return SQLError(.foreignKeyViolation, "It leaves rows that refer to missing rows: \(list)")
        }
        return nil
    }

    /// SQLite's error for a table that it can't check any more.
    ///
    /// A renamed table has its old error under a new name. So there is only a new error if the number of
    /// errors has grown.
    private func checkErrorAdded(since before: ForeignKeyViolations) -> SQLError? {
        if checkErrorCount <= before.checkErrorCount { return nil }
        let newErrors = tablesWithViolations.compactMap { table in
            before.violations[table]?.checkError == nil ? violations[table]?.checkError : nil
        }
        return newErrors.first
    }

    private var checkErrorCount: Int { violations.values.count { $0.checkError != nil } }

    /// The number of violations in tables that are missing from `tables`; `nil`, for no limit, if SQLite
    /// couldn't check one of the missing tables.
    private func allowanceForRenames(to tables: [SQLName: Table]) -> Int? {
        var allowance = 0
        for (name, violations) in violations where tables[name] == nil {
            if violations.checkError != nil { return nil }
            allowance += violations.rows.count
        }
        return allowance
    }

    private func rowsAdded(
        in name: SQLName,
        since before: ForeignKeyViolations,
        allowance: inout Int?
    ) -> SQLRows {
        let rows = violations[name]?.rows ?? []
        guard let tableBefore = before.tables[name] else {
            guard let allowed = allowance else { return [] }
            allowance = allowed - rows.count
            return rows.count > allowed ? rows : []
        }
        let rowsBefore = before.violations[name]?.rows ?? []
        let table = tables[name]
        if table?.schemaRowID != tableBefore.schemaRowID {
            return rows.count > rowsBefore.count ? rows : []
        }
        // If a parent was renamed, the table's statement and its violations have the new name.
        return Self.rows(rows, notIn: rowsBefore, comparingReferences: table == tableBefore)
    }

    /// The rows that occur more often than before.
    ///
    /// In a table without rowids, all violations of one foreign key are equal.
    private static func rows(_ rows: SQLRows, notIn before: SQLRows, comparingReferences: Bool) -> SQLRows {
        func comparedColumns(of row: [SQLValue]) -> [SQLValue] { comparingReferences ? row : [row[1]] }
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
        tablesWithViolations.compactMap { name in
            guard let violations = violations[name] else { return nil }
            if let error = violations.checkError { return error.message }
            let rows = violations.rows
            return description(of: rows, in: name) + (rows.count > 3 ? "; and \(rows.count - 3) more" : "")
        }
    }

    /// The first three violations, with the rowids by which a developer finds the rows.
    private func description(of rows: SQLRows, in table: SQLName) -> String {
        rows.prefix(3).map { row in
            let parent = String.reading(row[2]) ?? ""
            if case .integer(let rowID) = row[1] {
                return "\(table) (rowid \(rowID)) refers to a missing row of \(parent)"
            }
            return "a row of \(table) refers to a missing row of \(parent)"
        }.joined(separator: "; ")
    }
}
