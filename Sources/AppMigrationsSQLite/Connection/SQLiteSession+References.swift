package import AppMigrationsSQL

extension SQLiteSession {
    /// Runs `body` with foreign keys off, and turns them on again in every case.
    ///
    /// A migration may break them for a moment, and dropping a table with them on deletes the rows that refer to it.
    /// "This pragma is a no-op within a transaction" (PRAGMA foreign_keys), so they are turned off before it, and what
    /// the pragma says is asked afterwards.
    ///
    /// Where several works follow one another, each is compared with what the one before it left.
    package func withoutForeignKeys(
        _ body: (_ checking: @escaping SQLChecking) throws(SQLError) -> Void
    ) throws(SQLError) {
        guard try hasForeignKeys() else { return try body { rules throws(SQLError) in try rules() } }
        try db.undoing("turning the foreign keys on again") { () throws(SQLError) in
            // A statement could be interrupted.
            if let own { own.turnForeignKeysOn() } else { try setForeignKeys(true) }
        } _: { () throws(SQLError) in
            try setForeignKeys(false)
            try body(ReferenceCheck(self).checking)
        }
    }

    /// Whether references are enforced; a library that was built without them answers with no row.
    package func hasForeignKeys() throws(SQLError) -> Bool {
        try db.query("PRAGMA foreign_keys").first?.first == 1
    }

    private func setForeignKeys(_ on: Bool) throws(SQLError) {
        try db.query("PRAGMA foreign_keys = \(on ? "ON" : "OFF")")
        if try hasForeignKeys() == on { return }
        throw SQLError(.alreadyInTransaction, "SQLite switches foreign keys outside of a transaction only")
    }

    /// Whether the connection tells which tables a statement writes.
    var tellsOfWrites: Bool { own?.isBorrowed == false }

    /// Runs `body`, and gives the tables that it may have written; `nil` where the connection doesn't tell.
    func writes(of body: SQLRules) throws(SQLError) -> Set<SQLName>? {
        guard let own, tellsOfWrites else {
            try body()
            return nil
        }
        let writes = WrittenTables()
        let former = own.exchangeWatch(StatementWatch(nil, writes))
        defer { _ = own.exchangeWatch(former) }
        try body()
        return writes.names
    }
}
