internal import AppMigrationsSQLite

/// The transaction of a change of tables: foreign keys off, `legacy_alter_table` on, and both as they were
/// afterwards, whatever happens.
enum SchemaTransaction {
    /// Runs `body` in a transaction, or in a savepoint of the caller's.
    ///
    /// If foreign keys were on, a row that refers to a missing row is an error, unless it did so before. In a
    /// transaction they must be off already, as they are in a migration. SQLite ignores the pragma there, and
    /// would delete the rows that refer to a table that is dropped.
    static func run<Connection: SQLConnection>(
        on db: Connection,
        _ body: () throws(SQLError) -> Void
    ) throws(SQLError) {
        guard Connection.dialect == .sqlite else {
            throw SQLError(
                .refusedSchemaChange,
                "Only SQLite needs to rebuild tables; PostgreSQL's ALTER TABLE changes them in place. Nothing was changed"
            )
        }
        let session = SQLiteSession(SQLConversation(db))
        if try session.isInTransaction() { return try inside(session, db, body) }
        var isCommitted = false
        do throws(SQLError) {
            try session.withoutForeignKeys { checking throws(SQLError) in
                try withLegacyRenaming(session, db) { () throws(SQLError) in
                    try session.transaction(SQLLockWait(.zero)) { () throws(SQLError) in
                        _ = try checking(nil, body)
                    }
                    isCommitted = true
                }
            }
        } catch {
            throw isCommitted ? error.with { $0.outcome = "The change itself is committed" } : error
        }
    }

    private static func inside(
        _ session: SQLiteSession,
        _ db: some SQLConnection,
        _ body: SQLRules
    ) throws(SQLError) {
        if try session.hasForeignKeys() {
            throw SQLError(
                .refusedSchemaChange,
                "Foreign keys are on, and SQLite cannot turn them off inside a transaction: the rows that refer to"
                    + " a table would be deleted with it. Nothing was changed. Run it outside of the"
                    + " transaction, or in a migration, which turns them off before"
            )
        }
        try session.db.inSavepoint { () throws(SQLError) in try withLegacyRenaming(session, db, body) }
    }

    /// Runs `body` with renames that leave the texts of views, triggers and foreign keys alone, and with room
    /// for changed pages.
    ///
    /// "PRAGMA legacy_alter_table=ON: the ALTER TABLE RENAME command works as it did in SQLite 3.24.0 and
    /// earlier"; with foreign keys off, references of other tables stay as they are, too. Each time the room
    /// is full (8 MB here, mostly 2), SQLite brings its journal to the disk. A larger cache would take more
    /// memory for sorting, too.
    private static func withLegacyRenaming(
        _ session: SQLiteSession,
        _ db: some SQLConnection,
        _ body: SQLRules
    ) throws(SQLError) {
        let wasOn = try db.number("PRAGMA legacy_alter_table") == 1
        let pages = try db.number("PRAGMA cache_spill")
        try setLegacyRenaming(true, on: db)
        try session.db.undoing("setting PRAGMA legacy_alter_table again") { () throws(SQLError) in
            try setLegacyRenaming(wasOn, on: db)
            try setSpilling(pages, on: db)
        } _: { () throws(SQLError) in
            // Where it is 0, the app has SQLite keep all.
            try setSpilling(pages == 0 ? 0 : max(pages, 2_000), on: db)
            try body()
        }
    }

    /// A rename that leaves the texts of views, triggers and foreign keys alone, as statements for a shell.
    static func withLegacyRenaming(_ rename: String) -> [String] {
        ["PRAGMA legacy_alter_table = ON", rename, "PRAGMA legacy_alter_table = OFF"]
    }

    private static func setSpilling(_ pages: Int64, on db: some SQLConnection) throws(SQLError) {
        if let db = db as? SQLiteConnection { return db.setSpilling(pages) }
        try db.rows("PRAGMA cache_spill = \(pages)")
    }

    static func setLegacyRenaming(_ on: Bool, on db: some SQLConnection) throws(SQLError) {
        if let db = db as? SQLiteConnection { return db.setLegacyRenaming(on) }
        try db.rows("PRAGMA legacy_alter_table = \(on ? "ON" : "OFF")")
    }
}
