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

    package func durably(_ body: () throws(SQLError) -> Void) throws(SQLError) {
        try raising(Self.durability, body)
    }

    /// Runs `body`, in WAL mode with synchronous=NORMAL where it is off.
    ///
    /// With OFF a commit may copy the log into the database without a sync, and the next begin the log anew. The durable one
    /// syncs the log only.
    package func beforeDurable(_ body: () throws(SQLError) -> Void) throws(SQLError) {
        guard try number(of: "synchronous") == 0, try db.rows("PRAGMA main.journal_mode") == [["wal"]]
        else { return try body() }
        try raising([("synchronous", 1)], body)
    }

    private func raising(
        _ pragmas: [(pragma: String, least: Int64)],
        _ body: () throws(SQLError) -> Void
    ) throws(SQLError) {
        var raised = [(pragma: String, before: Int64)]()
        try SQLError.running(
            { () throws(SQLError) in
                for (pragma, least) in pragmas {
                    let before = try number(of: pragma)
                    guard before < least else { continue }
                    try setOutside(pragma, to: least)
                    raised.append((pragma, before))
                }
                try body()
            },
            undoing: "setting the pragmas back"
        ) { () throws(SQLError) in
            var failure: SQLError?
            for (pragma, before) in raised {
                do throws(SQLError) { try setOutside(pragma, to: before) } catch {
                    failure = failure ?? error
                }
            }
            if let failure { throw failure }
        }
    }

    /// SQLite refuses to change it inside a transaction.
    private func setOutside(_ pragma: String, to number: Int64) throws(SQLError) {
        do throws(SQLError) {
            try set(pragma, to: number)
        } catch {
            guard try isInTransaction else { throw error }
            throw SQLError(.alreadyInTransaction, "The connection is in a transaction already")
        }
    }
}
