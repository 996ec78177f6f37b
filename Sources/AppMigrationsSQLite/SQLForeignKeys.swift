/// The foreign keys of an SQLite database around a migration.
///
/// A migration may break them for a moment, and dropping a table with them on deletes the rows that refer
/// to it. "This pragma is a no-op within a transaction" (PRAGMA foreign_keys), so they are turned off
/// before it, and what the pragma says is asked afterwards.
enum SQLForeignKeys {
    /// Runs `body` with foreign keys off, and turns them on again in every case.
    ///
    /// `body` is told whether they were on, and what it left is to be checked.
    static func turnedOff<Value>(
        on db: some SQLConnection,
        _ body: (_ checks: Bool) throws(SQLError) -> Value
    ) throws(SQLError) -> Value {
        guard try areOn(db) else { return try body(false) }
        try set(false, on: db)
        let value: Value
        do throws(SQLError) {
            value = try body(true)
        } catch {
            do throws(SQLError) {
                try set(true, on: db)
            } catch let failure {
                throw error.adding(failure, of: "turning the foreign keys on again")
            }
            throw error
        }
        try set(true, on: db)
        return value
    }

    private static func areOn(_ db: some SQLConnection) throws(SQLError) -> Bool {
        let rows = try SQLError.wrapping { try db.query("PRAGMA foreign_keys") }
        // No row: a library that was built without them.
        guard let value = rows.first?.first else { return false }
        return value == 1
    }

    private static func set(_ on: Bool, on db: some SQLConnection) throws(SQLError) {
        try SQLError.wrapping { try db.query("PRAGMA foreign_keys = \(on ? "ON" : "OFF")") }
        if try areOn(db) != on {
            throw SQLError(
                .alreadyInTransaction,
                "SQLite switches foreign keys outside of a transaction only"
            )
        }
    }

    /// The rows that refer to none, as how many there are in each table.
    static func orphans(in db: some SQLConnection) throws(SQLError) -> Orphans {
        var orphans = Orphans()
        for row in try SQLError.wrapping({ try db.query("PRAGMA foreign_key_check") }) {
            guard case .text(let table) = row.first, row.count >= 3, case .text(let parent) = row[2] else {
                throw SQLError(
                    .statementFailed,
                    "PRAGMA foreign_key_check gave a row without a table: \(row)"
                )
            }
            orphans.add(table: table, rowID: row[1], parent: parent)
        }
        return orphans
    }
}

/// The rows that refer to none.
///
/// They are compared by table and number, since a rebuilt table may have other row ids.
struct Orphans {
    private struct Group {
        var count = 0
        /// The first ones, as a person would look them up.
        var examples = [String]()
    }

    private var groups = [String: Group]()

    mutating func add(table: String, rowID: SQLValue, parent: String) {
        var group = groups[table] ?? Group()
        group.count += 1
        if group.examples.count < 3 {
            if case .integer(let rowID) = rowID {
                group.examples.append("\(table) (rowid \(rowID)) refers to no row of \(parent)")
            } else {
                group.examples.append("a row of \(table) refers to no row of \(parent)")
            }
        }
        groups[table] = group
    }

    /// What a person needs to find the rows that `before` did not have; `nil` when there is none.
    ///
    /// A table that is gone may have got another name: its old orphans are allowed in tables that are new.
    func excess(over before: Orphans, tables: (before: [String], after: [String])) -> String? {
        let old = Set(tables.before.map { $0.lowercased() })
        let new = Set(tables.after.map { $0.lowercased() })
        var moved = before.groups.reduce(0) { new.contains($1.key.lowercased()) ? $0 : $0 + $1.value.count }
        for (table, group) in groups.sorted(by: { $0.key < $1.key }) {
            let isNew = !old.contains(table.lowercased())
            let allowed = isNew ? moved : before.count(of: table)
            if group.count > allowed { return group.examples.joined(separator: "; ") }
            if isNew { moved -= group.count }
        }
        return nil
    }

    private func count(of table: String) -> Int {
        groups.first { $0.key.lowercased() == table.lowercased() }?.value.count ?? 0
    }
}
