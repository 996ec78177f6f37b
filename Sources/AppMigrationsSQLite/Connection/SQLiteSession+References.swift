package import AppMigrationsSQL

extension SQLiteSession {
    /// Runs `body` with foreign keys off, and turns them on again in every case.
    ///
    /// A migration may break them for a moment, and dropping a table with them on deletes the rows that refer to it.
    /// "This pragma is a no-op within a transaction" (PRAGMA foreign_keys), so they are turned off before it, and what
    /// the pragma says is asked afterwards.
    ///
    /// Where several works follow one another, each is compared with what the one before it left.
    package func withoutForeignKeys(_ body: @escaping (_ checking: @escaping SQLWork.Around) -> SQLWork)
        -> SQLWork
    {
        hasForeignKeys.whether { isOn in
            if !isOn { return body { $0() } }
            return setForeignKeys(false).then { body(ReferenceCheck(self).checking) }
                .undoing("turning the foreign keys on again") {
                    guard let own else { return setForeignKeys(true) }
                    // A statement could be interrupted.
                    own.turnForeignKeysOn()
                    return .nothing
                }
        }
    }

    /// Whether references are enforced; a library that was built without them answers with no row.
    package var hasForeignKeys: SQLWork {
        SQLWork.statement("PRAGMA foreign_keys").then { .answer($0.first?.first == 1) }
    }

    private func setForeignKeys(_ on: Bool) -> SQLWork {
        SQLWork.statement("PRAGMA foreign_keys = \(on ? "ON" : "OFF")").then { hasForeignKeys }.whether {
            (isOn: Bool) throws(SQLError) in
            if isOn == on { return .nothing }
            throw SQLError(
                .alreadyInTransaction,
                "SQLite switches foreign keys outside of a transaction only"
            )
        }
    }

    /// Whether the connection tells which tables a statement writes.
    var tellsOfWrites: Bool { own?.isBorrowed == false }

    /// Runs `body`, and then `next` with the tables that it may have written; `nil` where the connection doesn't tell.
    func notingWrites(
        of body: @escaping () -> SQLWork,
        _ next: @escaping (Set<SQLName>?) -> SQLWork
    ) -> SQLWork {
        guard let own, tellsOfWrites else { return body().then { next(nil) } }
        let writes = WrittenTables()
        let former = own.exchangeWatch(StatementWatch(nil, writes))
        return body().undoing("removing the authorizer") {
            _ = own.exchangeWatch(former)
            return .nothing
        }.then { next(writes.names) }
    }
}
