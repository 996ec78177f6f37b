internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// A copy of one database over another, page by page, in one transaction of the destination.
    final class Backup {
        private let destination: SQLiteConnection
        private let source: SQLiteConnection
        private var pointer: OpaquePointer?

        /// Prepares the copy; neither connection may be in a transaction that writes.
        init(from source: SQLiteConnection, to destination: SQLiteConnection) throws(SQLError) {
            self.source = source
            self.destination = destination
            try source.checkUsable()
            try destination.checkUsable()
            pointer = sqlite3_backup_init(destination.handle, "main", source.handle, "main")
            if pointer == nil { throw destination.error(sqlite3_extended_errcode(destination.handle)) }
        }

        deinit { sqlite3_backup_finish(pointer) }

        /// The pages of the source; known after the first step.
        var pageCount: Int { pointer == nil ? 0 : Int(sqlite3_backup_pagecount(pointer)) }
        var remainingPages: Int { pointer == nil ? 0 : Int(sqlite3_backup_remaining(pointer)) }

        /// Takes the destination's write lock, and copies nothing yet.
        ///
        /// It waits as long as the destination's connection does.
        func lock() throws(SQLError) { _ = try step(0) }

        /// Copies some pages; `false` says that all are there and committed.
        ///
        /// After an error or without a last step the destination is as it was, once ``finish()`` was called.
        func step(_ pages: Int32) throws(SQLError) -> Bool {
            switch sqlite3_backup_step(pointer, pages) {
            case SQLITE_OK: return true
            case SQLITE_DONE: return false
            case let result:
                // The result of a step is the connection's once the copy is finished ("sqlite3_backup_finish").
                sqlite3_backup_finish(pointer)
                pointer = nil
                throw destination.error(result)
            }
        }

        /// Ends the copy, and takes back one that did not come to its end.
        func finish() {
            sqlite3_backup_finish(pointer)
            pointer = nil
        }
    }

    /// A number that is another one once the database has changed, through any connection.
    ///
    /// It is of the last transaction of this connection and looks at no file ("SQLITE_FCNTL_DATA_VERSION"), so
    /// that it can be asked in the middle of a backup.
    func dataVersion() throws(SQLError) -> UInt32 {
        try checkUsable()
        var version: UInt32 = 0
        let result = sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        if result != SQLITE_OK { throw error(result) }
        return version
    }

    /// True if the database has a table beside those in which this library records its work.
    func hasTables() throws(SQLError) -> Bool {
        let rows = try query(
            """
            SELECT 1 FROM sqlite_master
            WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                AND lower(name) NOT IN ('schema_migrations', 'app_migrations')
            LIMIT 1
            """
        )
        return !rows.isEmpty
    }
}
