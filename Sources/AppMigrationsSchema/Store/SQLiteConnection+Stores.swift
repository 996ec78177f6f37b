internal import AppMigrationsSQL
internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// Copies a database over another one, page by page, in one transaction of the destination.
    final class PageCopy {
        private let destination: SQLiteConnection
        private let source: SQLiteConnection
        private var pointer: OpaquePointer?

        /// Prepares the copy.
        ///
        /// Neither connection may be in a transaction that writes.
        init(from source: SQLiteConnection, to destination: SQLiteConnection) throws(SQLError) {
            self.source = source
            self.destination = destination
            try source.checkUsable()
            try destination.checkUsable()
            pointer = sqlite3_backup_init(destination.handle, "main", source.handle, "main")
            if pointer == nil { throw destination.error(for: sqlite3_extended_errcode(destination.handle)) }
        }

        /// The number of pages left to copy.
        ///
        /// It is valid only after the first step and before ``finish()``.
        var remainingPages: Int { Int(sqlite3_backup_remaining(pointer)) }

        func progress(of phase: SQLiteStore.Progress.Phase) -> SQLiteStore.Progress {
            let total = Int(sqlite3_backup_pagecount(pointer))
            return SQLiteStore.Progress(phase, total - remainingPages, of: total)
        }

        /// Copies some pages; returns false when all pages are copied and committed.
        ///
        /// After an error, or if the copy isn't completed, ``finish()`` rolls the destination back.
        func step(_ pages: Int32) throws(SQLError) -> Bool {
            let result = sqlite3_backup_step(pointer, pages)
            if result == SQLITE_OK || result == SQLITE_DONE { return result == SQLITE_OK }
            // The connection reports the error of a step after the copy is finished
            // ("sqlite3_backup_finish").
            finish()
            throw destination.error(for: result)
        }

        /// Ends the copy, and rolls it back if it isn't complete.
        ///
        /// Always call it, also after an error.
        func finish() {
            sqlite3_backup_finish(pointer)
            pointer = nil
        }
    }

    /// A number that changes when the database is changed through any connection.
    ///
    /// The number is the one that this connection saw in its last transaction. SQLite reads no file for it
    /// ("SQLITE_FCNTL_DATA_VERSION"), so it can be asked in the middle of a backup.
    func dataVersion() throws(SQLError) -> UInt32 {
        try checkUsable()
        var version: UInt32 = 0
        let result = sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        if result != SQLITE_OK { throw error(for: result) }
        return version
    }

    /// Syncs the database's file to the disk, including data that was written without SQLite, such as a
    /// copied file.
    func synchronizeFile() throws(SQLError) {
        try checkUsable()
        let result = app_migrations_sync(handle)
        if result != SQLITE_OK { throw error(for: result) }
    }

    /// Throws if the store's file has fewer pages than the database, and the write-ahead log doesn't have the
    /// others.
    ///
    /// SQLite doesn't notice each file that was cut:
    ///
    /// - If a file ends inside a page, SQLite reads the missing bytes as zeros, so rows get other values.
    /// - If there is a log, SQLite doesn't compare the size of the file. The next checkpoint makes the file
    ///   longer, and fills the gap with zeros.
    ///
    /// Call this in a transaction, so that no other connection changes the file meanwhile.
    func requirePages(_ pageCount: Int64, of files: StoreFiles) throws(SQLError) {
        var size: Int64 = 0
        let result = app_migrations_file_size(handle, &size)
        if result != SQLITE_OK { throw error(for: result) }
        let pageSize = try number("PRAGMA page_size")
        if pageSize == 0 || size >= pageCount * pageSize { return }
        let missing = size / pageSize + 1...pageCount
        if try files.logHasPages(missing, pageSize: pageSize) { return }
        throw files.error(
            .damaged,
            "It has \(size) bytes, and its \(pageCount) pages need \(pageCount * pageSize)"
        )
    }

    /// True if the database has a table other than those in which this library records its work.
    func hasTables() throws(SQLError) -> Bool {
        let session = SQLiteSession(SQLConversation(self))
        for object in try SchemaObject.all(of: self) where object.kind == .table && !object.name.isInternal {
            if try !LedgerTable.isLedger(object, in: session) { return true }
        }
        return false
    }

    /// The number of pages that SQLite has read from the file since the connection was opened.
    var readPages: Int {
        let cacheMisses: Int32 = 8  // SQLITE_DBSTATUS_CACHE_MISS
        var count: Int32 = 0
        var highest: Int32 = 0
        unlessClosed { sqlite3_db_status(handle, cacheMisses, &count, &highest, 0) }
        return Int(count)
    }

    /// Runs `body`, and calls `shouldContinue` several times a second while a statement of `body` runs.
    ///
    /// If `shouldContinue` returns false, the statement throws `SQLError.Code.cancelled`. `shouldContinue`
    /// must not use the connection, because it is called in the middle of a statement.
    func run(_ body: () throws(SQLError) -> Void, while shouldContinue: () -> Bool) throws(SQLError) {
        try withoutActuallyEscaping(shouldContinue) { (shouldContinue) throws(SQLError) in
            var mustStop = { Task<Never, Never>.isCancelled || !shouldContinue() }
            try withUnsafeMutablePointer(to: &mustStop) { (mustStop) throws(SQLError) in
                // SQLite calls the handler each time its virtual machine has run a million instructions,
                // which takes a few tenths of a second.
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
