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

    /// The rows that refer to none, and the tables of the database.
    static func orphans(in db: some SQLConnection) throws(SQLError) -> Orphans {
        var orphans = Orphans()
        // The text is compared and not read, and may hold bytes that are no UTF-8.
        let tables = "SELECT name, rootpage, CAST(sql AS BLOB) FROM sqlite_master WHERE type = 'table'"
        for row in try SQLError.wrapping({ try db.query(tables) }) {
            guard row.count == 3, case .text(let name) = row[0] else {
                throw SQLError(.statementFailed, "sqlite_master has a table without a name: \(row)")
            }
            orphans.addTable(name, rootPage: row[1], sql: row[2])
        }
        for row in try SQLError.wrapping({ try db.query("PRAGMA foreign_key_check") }) {
            guard row.count >= 4, case .text(let table) = row[0], case .text(let parent) = row[2] else {
                throw SQLError(
                    .statementFailed,
                    "PRAGMA foreign_key_check gave a row without a table: \(row)"
                )
            }
            orphans.add(table: table, rowID: row[1], parent: parent, reference: row[3])
        }
        return orphans
    }
}
