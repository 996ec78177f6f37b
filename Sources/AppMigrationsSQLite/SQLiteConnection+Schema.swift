internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Sets `legacy_alter_table`, also where SQLite has ended the transaction and no statement runs.
    func setLegacyRenaming(_ on: Bool) {
        // It fails for options that SQLite does not know, and it knows this one since 3.26.
        app_migrations_db_config(handle, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, on ? 1 : 0, nil)
    }
}
