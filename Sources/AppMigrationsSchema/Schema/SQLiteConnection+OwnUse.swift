internal import AppMigrationsSQLite

extension SQLiteConnection {
    /// Opens a connection that only this library uses.
    ///
    /// Some builds of SQLite keep each lock until the connection is closed (`SQLITE_DEFAULT_LOCKING_MODE=1`).
    /// This library opens several connections to the same file, which must not lock each other out.
    static func forOwnUse(
        path: String,
        access: Access,
        busyTimeout: Duration
    ) throws(SQLError) -> SQLiteConnection {
        let db = try SQLiteConnection(path: path, access: access, busyTimeout: busyTimeout)
        try db.query("PRAGMA locking_mode = NORMAL")
        return db
    }
}
