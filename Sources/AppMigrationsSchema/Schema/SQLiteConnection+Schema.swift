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

    /// Turns foreign keys off, which SQLite ignores in a transaction.
    func turnForeignKeysOff() {
        app_migrations_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 0, nil)
    }

    /// Sets `legacy_alter_table`, also where SQLite has ended the transaction and no statement runs.
    func setLegacyRenaming(_ on: Bool) {
        // The call fails for options that SQLite doesn't know, and this one is known since 3.26.
        app_migrations_db_config(handle, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, on ? 1 : 0, nil)
    }

    /// Sets `cache_spill`, also where SQLite has ended the transaction.
    func setSpilling(_ pages: Int64) {
        unlessClosed { sqlite3_exec(handle, "PRAGMA cache_spill = \(pages)", nil, nil, nil) }
    }

    /// Reads the schema also where statements in it do not compile ("PRAGMA writable_schema").
    func setUnreadableSchemaAllowed() {
        app_migrations_db_config(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nil)
    }

    /// Leaves a write-ahead log as it is when the last connection closes.
    func keepLogOnClose() { app_migrations_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nil) }
}
