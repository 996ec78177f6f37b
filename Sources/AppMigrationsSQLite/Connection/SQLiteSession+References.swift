package import AppMigrationsSQL

extension SQLiteSession {
    /// Runs `body` with foreign keys off, and turns them on again in every case.
    ///
    /// A migration may break them for a moment, and dropping a table with them on deletes the rows that refer to it.
    /// "This pragma is a no-op within a transaction" (PRAGMA foreign_keys), so they are turned off before it, and what
    /// the pragma says is asked afterwards.
    package func withoutForeignKeys(_ body: (_ checks: Bool) throws(SQLError) -> Void) throws(SQLError) {
        guard try hasForeignKeys else { return try body(false) }
        try SQLError.running(
            { () throws(SQLError) in
                try setForeignKeys(false)
                try body(true)
            },
            undoing: "turning the foreign keys on again"
        ) { () throws(SQLError) in try setForeignKeys(true) }
    }

    /// Whether references are enforced; a library that was built without them answers with no row.
    package var hasForeignKeys: Bool {
        get throws(SQLError) { try db.number("PRAGMA foreign_keys") == 1 }
    }

    private func setForeignKeys(_ on: Bool) throws(SQLError) {
        try db.rows("PRAGMA foreign_keys = \(on ? "ON" : "OFF")")
        if try hasForeignKeys != on {
            throw SQLError(
                .alreadyInTransaction,
                "SQLite switches foreign keys outside of a transaction only"
            )
        }
    }

    package func checkingReferences(_ body: () throws(SQLError) -> Void) throws(SQLError) {
        let before = try Orphans(in: db)
        try body()
        if let rows = try Orphans(in: db).excess(over: before) {
            throw SQLError(.foreignKeyViolation, "It leaves rows that refer to none: \(rows)")
        }
    }
}
