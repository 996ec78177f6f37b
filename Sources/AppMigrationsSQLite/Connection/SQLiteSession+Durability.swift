package import AppMigrationsSQL

extension SQLiteSession {
    /// The pragmas that say how surely a commit is kept when the power fails, and the least that each must be.
    ///
    /// A state file outside of the database is on the disk when it says that a migration is done. The commit has to be
    /// there before it: "WAL mode does lose durability. A transaction committed in WAL mode with synchronous=NORMAL
    /// might roll back following a power loss", and with a rollback journal only "EXTRA provides additional durability
    /// if the commit is followed closely by a power loss" (PRAGMA synchronous). On Apple's systems a sync reaches the
    /// disk itself with PRAGMA fullfsync only.
    private static let durability: [(pragma: String, least: Int64)] = [("synchronous", 3), ("fullfsync", 1)]

    /// Runs `body`, where it need not be durable itself in WAL mode with synchronous=NORMAL instead of OFF.
    ///
    /// With OFF a commit may copy the log into the database without a sync, and the next begin the log anew. The durable one
    /// syncs the log only.
    package func lasting(durably: Bool, _ body: @escaping () -> SQLWork) -> SQLWork {
        if durably { return raising(Self.durability[...], body) }
        return number(of: "synchronous") { level in
            if level != 0 { return body() }
            return SQLWork.statement("PRAGMA main.journal_mode").then {
                $0 == [["wal"]] ? raising([("synchronous", 1)], body) : body()
            }
        }
    }

    private func raising(
        _ pragmas: ArraySlice<(pragma: String, least: Int64)>,
        _ body: @escaping () -> SQLWork
    ) -> SQLWork {
        guard let (pragma, least) = pragmas.first else { return body() }
        let rest = { raising(pragmas.dropFirst(), body) }
        return number(of: pragma) { before in
            if before >= least { return rest() }
            return setOutside(pragma, to: least).then {
                rest().undoing("setting the pragmas back") { setOutside(pragma, to: before) }
            }
        }
    }

    /// SQLite refuses to change it inside a transaction.
    private func setOutside(_ pragma: String, to number: Int64) -> SQLWork {
        set(pragma, to: number).otherwise { error in
            isInTransaction.whether { .failed($0 ? SQLError.inTransaction : error) }
        }
    }
}
