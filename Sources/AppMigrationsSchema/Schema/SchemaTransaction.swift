internal import AppMigrationsSQLite

/// Changes tables in a transaction, with foreign keys off and `legacy_alter_table` on.
///
/// Both settings are restored afterwards, also after an error.
enum SchemaTransaction {
    /// Runs `body` in a transaction of its own, or in a savepoint if the caller is in a transaction.
    ///
    /// If foreign keys were on, a row that refers to a missing row is an error, unless it already did so
    /// before. If the caller is in a transaction, foreign keys must already be off, as they are in a
    /// migration, because SQLite can't turn them off there. While they are on, SQLite may delete the rows
    /// that refer to a table when the table is dropped.
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
        if try session.isInTransaction() { return try runInSavepoint(of: session, on: db, body) }
        var isCommitted = false
        do throws(SQLError) {
            try session.withoutForeignKeys { checking throws(SQLError) in
                try withLegacyRenaming(in: session, on: db) { () throws(SQLError) in
                    try session.transaction(SQLLockWait(.zero)) { () throws(SQLError) in
                        _ = try checking(nil, body)
                    }
                    isCommitted = true
                }
            }
        } catch {
            throw isCommitted ? error.with { $0.outcome = "The change itself was committed" } : error
        }
    }

    private static func runInSavepoint(
        of session: SQLiteSession,
        on db: some SQLConnection,
        _ body: SQLOperation
    ) throws(SQLError) {
        if try session.hasForeignKeys() {
            throw SQLError(
                .refusedSchemaChange,
                "Foreign keys are on, and SQLite cannot turn them off inside a transaction. While they are on, dropping a"
                    + " table could also delete the rows that refer to it. Nothing was changed. Run the change outside"
                    + " of the transaction, or in a migration, which turns foreign keys off first"
            )
        }
        try session.db.inSavepoint { () throws(SQLError) in
            try withLegacyRenaming(in: session, on: db, body)
        }
    }

    /// Runs `body` with `legacy_alter_table` on, and with room for more changed pages in memory.
    ///
    /// With that setting, a rename doesn't change the statements of views and triggers: "the ALTER TABLE
    /// RENAME command works as it did in SQLite 3.24.0 and earlier" (PRAGMA legacy_alter_table). With foreign
    /// keys off, it doesn't change the references of other tables either.
    ///
    /// Each time the room for changed pages is full, SQLite syncs its journal to the disk. `cache_spill` sets
    /// the room: 8 MB here, and usually 2 MB. A larger `cache_size` would have the same effect, but then
    /// sorting would take more memory, too.
    private static func withLegacyRenaming(
        in session: SQLiteSession,
        on db: some SQLConnection,
        _ body: SQLOperation
    ) throws(SQLError) {
        let wasOn = try db.number("PRAGMA legacy_alter_table") == 1
        let pages = try db.number("PRAGMA cache_spill")
        try setLegacyRenaming(true, on: db)
        let action = "restoring PRAGMA legacy_alter_table and cache_spill"
        try session.db.withCleanup(action) { () throws(SQLError) in
            try setLegacyRenaming(wasOn, on: db)
            try setCacheSpill(pages: pages, on: db)
        } _: { () throws(SQLError) in
            // 0 means that the app lets SQLite keep all changed pages in memory.
            try setCacheSpill(pages: pages == 0 ? 0 : max(pages, 2_000), on: db)
            try body()
        }
    }

    /// Statements for a shell that run a rename which doesn't change the statements of views, triggers and
    /// foreign keys.
    static func legacyRenamingScript(_ rename: String) -> [String] {
        ["PRAGMA legacy_alter_table = ON", rename, "PRAGMA legacy_alter_table = OFF"]
    }

    private static func setCacheSpill(pages: Int64, on db: some SQLConnection) throws(SQLError) {
        if let db = db as? SQLiteConnection { return db.setCacheSpill(pages: pages) }
        try db.rows("PRAGMA cache_spill = \(pages)")
    }

    static func setLegacyRenaming(_ on: Bool, on db: some SQLConnection) throws(SQLError) {
        if let db = db as? SQLiteConnection { return db.setLegacyRenaming(on) }
        try db.rows("PRAGMA legacy_alter_table = \(on ? "ON" : "OFF")")
    }
}
