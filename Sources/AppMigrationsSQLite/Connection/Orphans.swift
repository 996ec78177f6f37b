internal import AppMigrationsSQL

/// The rows that refer to none, and the tables at that moment.
package struct Orphans {
    private struct Row: Hashable {
        let rowID: SQLValue
        /// The name of the table that lacks the row; `nil` where it doesn't count.
        let parent: String?
        /// The number of the reference in its table, since two may lead to one table.
        let reference: SQLValue?
    }

    /// The facts that tell a table which only changed its rows from one that was altered or made again.
    private struct Table: Equatable {
        /// Its row in `sqlite_master`; with `auto_vacuum` its root page moves when another table is dropped.
        let number: SQLValue
        let sql: SQLValue
    }

    private var rows = [SQLName: [Row]]()
    private var tables = [SQLName: Table]()
    /// SQLite's words for tables whose references it can't check.
    private var complaints = [SQLName: SQLError]()

    /// The orphans of a whole database.
    package static func found(in db: SQLiteConnection) throws(SQLError) -> Orphans {
        let check = ReferenceCheck(SQLiteSession(SQLConversation(db)))
        try check.readAll()
        return check.orphans
    }

    /// Takes over which tables there are now, and gives the names of those that came, went or changed.
    mutating func replaceTables(_ tableRows: [[SQLValue]]) throws(SQLError) -> Set<SQLName> {
        var now = [SQLName: Table]()
        for row in tableRows {
            now[SQLName(try row.text(0))] = Table(number: row[1], sql: row[2])
        }
        var changed: Set<SQLName> = []
        for (name, table) in now where table != tables[name] { changed.insert(name) }
        for name in tables.keys where now[name] == nil {
            changed.insert(name)
            (rows[name], complaints[name]) = (nil, nil)
        }
        tables = now
        return changed
    }

    /// Takes over the rows of `PRAGMA foreign_key_check`, for one table or for all.
    mutating func note(_ violations: [[SQLValue]], of name: SQLName? = nil) throws(SQLError) {
        if let name { (rows[name], complaints[name]) = (nil, nil) }
        for row in violations {
            let orphan = Row(rowID: row[1], parent: try row.text(2), reference: row[3])
            rows[SQLName(try row.text(0)), default: []].append(orphan)
        }
    }

    mutating func note(_ complaint: SQLError, of name: SQLName) {
        (rows[name], complaints[name]) = (nil, complaint)
    }

    /// True if every reference leads to a row.
    var isEmpty: Bool { rows.isEmpty && complaints.isEmpty }

    /// Orphans that `before` did not have; `nil` when there are none.
    ///
    /// A row is known by its table, its row id and the reference that leads nowhere. Where a table was made again, its
    /// rows may have other ids, and are counted. A table that is gone may have got another name: its old orphans are
    /// allowed in tables that are new. What could not be checked before may have been anything.
    package func excess(over before: Orphans) -> SQLError? {
        if complaints.count > before.complaints.count,
            let new = complaints.first(where: { before.complaints[$0.key] == nil })
        {
            return new.value
        }
        return rows(over: before).map {
            SQLError(.foreignKeyViolation, "It leaves rows that refer to none: \($0)")
        }
    }

    /// A sentence for each table whose references lead nowhere.
    var sentences: [String] {
        complaints.values.map(\.message).sorted()
            + rows.sorted { $0.key.text < $1.key.text }.map {
                shown($1, of: $0) + ($1.count > 3 ? "; and \($1.count - 3) more" : "")
            }
    }

    private func rows(over before: Orphans) -> String? {
        var moved = before.rows.reduce(0) { tables[$1.key] != nil ? $0 : $0 + $1.value.count }
        let isUnknown = before.complaints.contains { tables[$0.key] == nil }
        for (name, now) in rows.sorted(by: { $0.key.text < $1.key.text }) where before.complaints[name] == nil
        {
            let old = before.rows[name] ?? []
            guard let table = tables[name], let former = before.tables[name] else {
                if now.count > moved, !isUnknown { return shown(now, of: name) }
                moved -= now.count
                continue
            }
            if table.number != former.number {
                if now.count > old.count { return shown(now, of: name) }
                continue
            }
            // A renamed parent changes what the table says of it.
            let added = Self.rows(of: now, notIn: old, countingParents: table.sql == former.sql)
            if !added.isEmpty { return shown(added, of: name) }
        }
        return nil
    }

    /// The rows that come more often than before: those of a table without row ids are alike.
    private static func rows(of now: [Row], notIn old: [Row], countingParents: Bool) -> [Row] {
        func known(_ row: Row) -> Row {
            countingParents ? row : Row(rowID: row.rowID, parent: nil, reference: nil)
        }
        var left = [Row: Int]()
        for row in old { left[known(row), default: 0] += 1 }
        return now.filter { row in
            let count = left[known(row)] ?? 0
            left[known(row)] = count - 1
            return count < 1
        }
    }

    /// The first ones, as a person would look them up.
    private func shown(_ rows: [Row], of table: SQLName) -> String {
        rows.prefix(3).map { row in
            if case .integer(let rowID) = row.rowID {
                "\(table) (rowid \(rowID)) refers to no row of \(row.parent ?? "")"
            } else {
                "a row of \(table) refers to no row of \(row.parent ?? "")"
            }
        }.joined(separator: "; ")
    }
}
