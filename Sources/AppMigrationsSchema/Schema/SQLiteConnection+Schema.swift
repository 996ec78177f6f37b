internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Sets `legacy_alter_table`, also where SQLite has ended the transaction and no statement runs.
    func setLegacyRenaming(_ on: Bool) {
        // It fails for options that SQLite does not know, and it knows this one since 3.26.
        app_migrations_db_config(handle, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, on ? 1 : 0, nil)
    }

    /// Reads the schema also where statements in it do not compile ("PRAGMA writable_schema").
    func setUnreadableSchemaAllowed() {
        app_migrations_db_config(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nil)
    }

    /// Leaves a write-ahead log as it is when the last connection closes.
    func keepLogOnClose() { app_migrations_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nil) }
}

extension SQLConnection {
    /// Tells an error which database it is about, where this library opened it.
    func naming(_ error: SQLError) -> SQLError { (self as? SQLiteConnection)?.naming(error) ?? error }
}
