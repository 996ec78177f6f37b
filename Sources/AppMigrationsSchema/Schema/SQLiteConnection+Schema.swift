internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Runs a statement, and returns SQLite's error if it fails.
    func failure(of sql: String) throws(SQLError) -> SQLError? {
        do throws(SQLError) {
            try query(sql)
            return nil
        } catch  where error.code == .statementFailed { return error }
    }

    /// Turns foreign keys off.
    ///
    /// In a transaction, SQLite ignores this.
    func turnForeignKeysOff() {
        app_migrations_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 0, nil)
    }

    /// Sets `legacy_alter_table`.
    ///
    /// This works even after SQLite has ended the transaction by itself, when this connection refuses to run
    /// a statement such as `PRAGMA legacy_alter_table`.
    func setLegacyRenaming(_ on: Bool) {
        // The call fails only for an option that SQLite doesn't know, and it has known this one since 3.26.
        app_migrations_db_config(handle, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, on ? 1 : 0, nil)
    }

    /// Sets `cache_spill`, even after SQLite has ended the transaction by itself.
    func setCacheSpill(pages: Int64) {
        unlessClosed { sqlite3_exec(handle, "PRAGMA cache_spill = \(pages)", nil, nil, nil) }
    }

    /// Lets SQLite read a schema although some of its statements don't compile ("PRAGMA writable_schema").
    func allowUnreadableSchema() {
        app_migrations_db_config(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nil)
    }

    /// If this connection is the last one to close, it leaves the write-ahead log as it is.
    func keepLogOnClose() {
        app_migrations_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nil)
    }

    /// If this connection is the last one to close, it writes the write-ahead log into the database and
    /// deletes the log, which is SQLite's default.
    func writeLogOnClose() {
        app_migrations_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nil)
    }

    /// Throws if another connection uses the database, as far as SQLite can tell.
    ///
    /// In this locking mode, "the database connection does not release file-locks at the conclusion of each
    /// transaction" (PRAGMA locking_mode). If it is set before the first access in WAL mode, no other process
    /// can have the file open. In the other journal modes, an idle connection isn't noticed.
    ///
    /// Afterwards this connection leaves the log alone when it closes, even if this method throws because the
    /// file can't be read. Otherwise SQLite would delete a log that it can't read.
    func requireSoleUse() throws(SQLError) {
        keepLogOnClose()
        try query("PRAGMA locking_mode = EXCLUSIVE")
        try query("BEGIN EXCLUSIVE")
        try query("ROLLBACK")
    }
}
