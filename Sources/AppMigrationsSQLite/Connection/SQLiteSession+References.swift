package import AppMigrationsSQL

extension SQLiteSession {
    /// Runs `body` with foreign keys off, and turns them on again in every case.
    ///
    /// A migration may break them for a moment, and dropping a table with them on deletes the rows that refer to it.
    /// "This pragma is a no-op within a transaction" (PRAGMA foreign_keys), so they are turned off before it, and what
    /// the pragma says is asked afterwards.
    package func withoutForeignKeys(_ body: @escaping (_ checks: Bool) -> SQLWork) -> SQLWork {
        hasForeignKeys.whether { isOn in
            if !isOn { return body(false) }
            return setForeignKeys(false).then { body(true) }
                .undoing("turning the foreign keys on again") { setForeignKeys(true) }
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

    package func checkingReferences(_ body: @escaping () -> SQLWork) -> SQLWork {
        Orphans.finding { before in
            body().then {
                Orphans.finding { (after: Orphans) throws(SQLError) in
                    guard let rows = after.excess(over: before) else { return .nothing }
                    throw SQLError(.foreignKeyViolation, "It leaves rows that refer to none: \(rows)")
                }
            }
        }
    }
}
