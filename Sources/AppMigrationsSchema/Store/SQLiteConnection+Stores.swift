internal import AppMigrationsSQL
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
            if pointer == nil { throw destination.error(for: sqlite3_extended_errcode(destination.handle)) }
        }

        /// The pages of the source that are not copied yet; known after the first step, until the copy is finished.
        var remainingPages: Int { Int(sqlite3_backup_remaining(pointer)) }

        func progress(of phase: SQLiteStore.Progress.Phase) -> SQLiteStore.Progress {
            let total = Int(sqlite3_backup_pagecount(pointer))
            return SQLiteStore.Progress(phase, total - remainingPages, of: total)
        }

        /// Copies some pages; `false` says that all are there and committed.
        ///
        /// After an error or without a last step the destination is as it was, once ``finish()`` was called.
        func step(_ pages: Int32) throws(SQLError) -> Bool {
            let result = sqlite3_backup_step(pointer, pages)
            if result == SQLITE_OK || result == SQLITE_DONE { return result == SQLITE_OK }
            // The result of a step is the connection's once the copy is finished ("sqlite3_backup_finish").
            finish()
            throw destination.error(for: result)
        }

        /// Ends the copy, and takes back one that did not come to its end; to be called in every case.
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
        if result != SQLITE_OK { throw error(for: result) }
        return version
    }

    /// Syncs the database's file to disk, with what others have written there by plain calls.
    func synchronizeFile() throws(SQLError) {
        try checkUsable()
        let result = app_migrations_sync(handle)
        if result != SQLITE_OK { throw error(for: result) }
    }

    /// True if the database has a table beside those in which this library records its work.
    func hasTables() throws(SQLError) -> Bool {
        try number(
            """
            SELECT EXISTS (
                SELECT 1 FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                AND lower(name) NOT IN ('schema_migrations', 'app_migrations'))
            """
        ) == 1
    }

    /// How many pages SQLite has read from the file since the connection was opened.
    var readPages: Int {
        let cacheMisses: Int32 = 8  // SQLITE_DBSTATUS_CACHE_MISS
        var (count, highest) = (Int32(0), Int32(0))
        unlessClosed { sqlite3_db_status(handle, cacheMisses, &count, &highest, 0) }
        return Int(count)
    }

    /// Runs `body`, and asks `mayGoOn` some times a second while a statement of it runs; one that may not throws
    /// `SQLError.Code.cancelled`.
    ///
    /// `mayGoOn` must not use the connection: it is called in the midst of a statement.
    func asking(while body: () throws(SQLError) -> Void, _ mayGoOn: () -> Bool) throws(SQLError) {
        try withoutActuallyEscaping(mayGoOn) { (mayGoOn) throws(SQLError) in
            var mustStop = { Task<Never, Never>.isCancelled || !mayGoOn() }
            try withUnsafeMutablePointer(to: &mustStop) { (mustStop) throws(SQLError) in
                // A million instructions of SQLite's machine take some tenths of a second.
                unlessClosed {
                    sqlite3_progress_handler(
                        handle,
                        1_000_000,
                        { $0?.assumingMemoryBound(to: (() -> Bool).self).pointee() == true ? 1 : 0 },
                        mustStop
                    )
                }
                defer { unlessClosed { installProgressHandler() } }
                try body()
            }
        }
    }
}
