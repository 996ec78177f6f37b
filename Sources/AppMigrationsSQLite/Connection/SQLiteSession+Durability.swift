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
    package func lasting(durably: Bool, _ body: SQLRules) throws(SQLError) {
        if durably { return try raising(Self.durability[...], body) }
        if try number(of: "synchronous") != 0 { return try body() }
        let isLogged = try db.query("PRAGMA main.journal_mode") == [["wal"]]
        try raising(isLogged ? [("synchronous", 1)] : [], body)
    }

    private func raising(
        _ pragmas: ArraySlice<(pragma: String, least: Int64)>,
        _ body: SQLRules
    ) throws(SQLError) {
        guard let (pragma, least) = pragmas.first else { return try body() }
        let before = try number(of: pragma)
        if before >= least { return try raising(pragmas.dropFirst(), body) }
        try setOutside(pragma, to: least)
        try db.undoing("setting the pragmas back") { () throws(SQLError) in
            try setOutside(pragma, to: before)
        } _: { () throws(SQLError) in
            try raising(pragmas.dropFirst(), body)
        }
    }

    /// SQLite refuses to change it inside a transaction.
    private func setOutside(_ pragma: String, to number: Int64) throws(SQLError) {
        do throws(SQLError) { try set(pragma, to: number) } catch {
            throw try isInTransaction() ? SQLError.inTransaction : error
        }
    }
}
