internal import AppMigrationsSQL

/// The rows of a database that refer to none at one moment, with its tables.
package struct Orphans {
    struct Table: Equatable {
        /// Its row in `sqlite_master`, another one once the table was made again; with `auto_vacuum` its root page moves when
        /// another table is dropped.
        let number: SQLValue
        let sql: SQLValue
    }

    struct Lack {
        /// The rows of `PRAGMA foreign_key_check`: the table, the row id, the parent, and the number of the reference in the table,
        /// since two may lead to one parent.
        var rows = SQLRows()
        /// SQLite's words where it can't check the references.
        var complaint: SQLError?
    }

    var tables = [SQLName: Table]()
    /// The tables whose references lead nowhere or can't be checked.
    var lacks = [SQLName: Lack]()

    /// The orphans of a whole database.
    package static func found(in db: SQLiteConnection) throws(SQLError) -> Orphans {
        let check = ReferenceCheck(SQLiteSession(SQLConversation(db)))
        try check.readAll()
        return check.orphans
    }

    /// True if every reference leads to a row.
    var isEmpty: Bool { lacks.isEmpty }

    /// The lacks in the order of their tables' names.
    private var sorted: [(name: SQLName, lack: Lack)] {
        var sorted = [(name: SQLName, lack: Lack)]()
        for (name, lack) in lacks {
            let place = sorted.firstIndex { name.text < $0.name.text } ?? sorted.count
            sorted.insert((name, lack), at: place)
        }
        return sorted
    }

    /// Orphans that `before` did not have; `nil` when there are none.
    ///
    /// A row is known by its table, its row id and the reference that leads nowhere. Where a table was made again, its
    /// rows may have other ids, and are counted. A table that is gone may have got another name: its old orphans are
    /// allowed in tables that are new. What could not be checked before may have been anything.
    package func excess(over before: Orphans) -> SQLError? {
        var (moved, isUnknown, complaints) = (0, false, 0)
        for (name, lack) in before.lacks {
            if lack.complaint != nil { complaints -= 1 }
            if tables[name] != nil { continue }
            moved += lack.rows.count
            isUnknown = isUnknown || lack.complaint != nil
        }
        var (complaint, rows) = (nil as SQLError?, nil as String?)
        for (name, lack) in sorted {
            let former = before.lacks[name] ?? Lack()
            if let new = lack.complaint {
                complaints += 1
                if former.complaint == nil { complaint = complaint ?? new }
            }
            if rows != nil || lack.rows.isEmpty || former.complaint != nil { continue }
            var added = lack.rows
            if let old = before.tables[name] {
                if tables[name]?.number == old.number {
                    // A renamed parent changes what the table says of it.
                    added = Self.rows(of: added, notIn: former.rows, countingParents: tables[name] == old)
                } else if added.count <= former.rows.count {
                    added = []
                }
            } else {
                let isNew = added.count > moved && !isUnknown
                moved -= added.count
                if !isNew { added = [] }
            }
            if !added.isEmpty { rows = shown(added, of: name) }
        }
        if complaints > 0, let complaint { return complaint }
        return rows.map { SQLError(.foreignKeyViolation, "It leaves rows that refer to missing rows: \($0)") }
    }

    /// A sentence for each table whose references lead nowhere.
    var sentences: [String] {
        var sentences = [String]()
        for (name, lack) in sorted {
            let more = lack.rows.count > 3 ? "; and \(lack.rows.count - 3) more" : ""
            sentences.append(lack.complaint?.message ?? shown(lack.rows, of: name) + more)
        }
        return sentences
    }

    /// The rows that come more often than before: those of a table without row ids are alike.
    private static func rows(of now: SQLRows, notIn old: SQLRows, countingParents: Bool) -> SQLRows {
        func known(_ row: [SQLValue]) -> [SQLValue] { countingParents ? row : [row[1]] }
        var left = [[SQLValue]: Int]()
        for row in old { left[known(row), default: 0] += 1 }
        return now.filter { row in
            let count = left[known(row)] ?? 0
            left[known(row)] = count - 1
            return count < 1
        }
    }

    /// The first ones, as a person would look them up.
    private func shown(_ rows: SQLRows, of table: SQLName) -> String {
        rows.prefix(3).map { row in
            let parent = String.reading(row[2]) ?? ""
            if case .integer(let rowID) = row[1] {
                return "\(table) (rowid \(rowID)) refers to a missing row of \(parent)"
            }
            return "a row of \(table) refers to a missing row of \(parent)"
        }.joined(separator: "; ")
    }
}
