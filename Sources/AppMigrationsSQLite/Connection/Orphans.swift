package import AppMigrationsSQL

/// The rows that refer to none, and the tables at that moment.
package struct Orphans {
    private struct Row: Hashable {
        let rowID: SQLValue
        /// The name of the table that lacks the row; `nil` where it doesn't count.
        let parent: String?
        /// Which of the references of its table it is, since two may be to the same one.
        let reference: SQLValue?
    }

    /// What tells a table that only changed its rows from one that was altered or made again.
    private struct Table {
        let name: String
        let rootPage: SQLValue
        let sql: SQLValue
    }

    /// By the names of their tables, in lower case.
    private var rows = [String: [Row]]()
    private var tables = [String: Table]()

    /// None.
    package init() {}

    /// The rows of a database that refer to none, and its tables.
    package static func finding(
        _ next: @escaping (Orphans) throws(SQLError) -> SQLWork
    ) -> SQLWork {
        // The text is compared and not read, and may hold bytes that are no UTF-8.
        SQLWork.statement("SELECT name, rootpage, CAST(sql AS BLOB) FROM sqlite_master WHERE type = 'table'")
            .then { tables in
                SQLWork.statement("PRAGMA foreign_key_check").then { (violations: SQLRows) throws(SQLError) in
                    try next(Orphans(tables, violations))
                }
            }
    }

    /// The same, on a connection that blocks.
    package static func found(on db: any SQLConnection) throws(SQLError) -> Orphans {
        var orphans = Orphans()
        try finding {
            orphans = $0
            return .nothing
        }.run(on: db)
        return orphans
    }

    private init(_ tableRows: [[SQLValue]], _ violations: [[SQLValue]]) throws(SQLError) {
        for row in tableRows {
            guard row.count == 3, case .text(let name) = row[0] else {
                throw SQLError(.statementFailed, "sqlite_master has a table without a name: \(row)")
            }
            tables[name.lowercased()] = Table(name: name, rootPage: row[1], sql: row[2])
        }
        for row in violations {
            guard row.count >= 4, case .text(let table) = row[0], case .text(let parent) = row[2] else {
                throw SQLError(
                    .statementFailed,
                    "PRAGMA foreign_key_check gave a row without a table: \(row)"
                )
            }
            rows[table.lowercased(), default: []].append(
                Row(rowID: row[1], parent: parent, reference: row[3])
            )
        }
    }

    /// What a person needs to find the rows that `before` did not have; `nil` when there is none.
    ///
    /// A row is known by its table, its row id and the reference that leads nowhere. Where a table was made again, its
    /// rows may have other ids, and are counted. A table that is gone may have got another name: its old orphans are
    /// allowed in tables that are new.
    package func excess(over before: Orphans) -> String? {
        var moved = before.rows.reduce(0) { tables[$1.key] != nil ? $0 : $0 + $1.value.count }
        for (key, now) in rows.sorted(by: { $0.key < $1.key }) {
            let old = before.rows[key] ?? []
            guard let table = tables[key], let former = before.tables[key] else {
                if now.count > moved { return shown(now, of: key) }
                moved -= now.count
                continue
            }
            if table.rootPage != former.rootPage {
                if now.count > old.count { return shown(now, of: key) }
                continue
            }
            // A renamed parent changes what the table says of it.
            let added = Self.rows(of: now, notIn: old, countingParents: table.sql == former.sql)
            if !added.isEmpty { return shown(added, of: key) }
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
    private func shown(_ rows: [Row], of key: String) -> String {
        let table = tables[key]?.name ?? key
        return rows.prefix(3).map { row in
            if case .integer(let rowID) = row.rowID {
                "\(table) (rowid \(rowID)) refers to no row of \(row.parent ?? "")"
            } else {
                "a row of \(table) refers to no row of \(row.parent ?? "")"
            }
        }.joined(separator: "; ")
    }
}
