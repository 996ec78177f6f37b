internal import AppMigrations
internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

/// One examination of a store, which doesn't change it.
///
/// A store is damaged only if SQLite says so (NOTADB, CORRUPT, or the result of a check) and nothing else
/// explains it, or if the store is missing or empty although its log has content or its journal is hot. A
/// file may be sound if it is busy, if this process isn't allowed to read it, or if its disk is full or
/// failing.
struct StoreExamination {
    let files: StoreFiles
    let busyTimeout: Duration
    var access = SQLiteConnection.Access.writing
    var preparation = ConnectionPreparation.none

    /// Checks the store, and passes a connection to `body`; does nothing if the store is missing or empty.
    ///
    /// - Parameters:
    ///   - check: How thoroughly ordinary tables and the file are checked.
    ///   - report: Called for each virtual table with a problem. Without `report`, or if `check` is `off`,
    ///     virtual tables aren't checked.
    ///   - body: Reads the store after the check.
    /// - Throws: `SQLError`. The codes `damaged`, `newerSchema`, `busy` and `unreachable` name the state of
    ///   the store. Errors of SQLite that mean such a state are converted to them, also if `body` throws
    ///   them. Every other error is thrown unchanged, such as a statement of `body` that doesn't compile.
    func examine(
        check: SQLiteStore.Check,
        reporting report: ((SQLiteStore.VirtualTableProblem) -> Void)? = nil,
        _ body: (SQLiteConnection) throws(SQLError) -> Void = { (_) throws(SQLError) in }
    ) throws(SQLError) {
        do throws(SQLError) {
            // An empty file isn't opened, because SQLite would delete its log and its journal.
            if let error = try files.orphanedLogError() { throw error }
            guard let status = try StoreFiles.status(files.store) else { return }
            if status.kind != .file { throw files.error(.unreachable, "It is not a file") }
            if status.size == 0 { return }
            let db = try openInTransaction()
            defer { db.close() }
            let pageCount = try db.number("PRAGMA page_count")
            if pageCount == 0 { return }
            try db.requirePages(pageCount, of: files)
            let virtualTables = check == .off ? [] : try SchemaObject.virtualTables(of: db)
            db.removeModules(of: virtualTables)
            if let damage = try Complaints(check, of: db).damage {
                throw files.error(.damaged, "The check found damage: \(damage)")
            }
            if virtualTables.isEmpty {
                try body(db)
                return
            }
            // Use a second connection, which still has the modules, and close the first one before that. A
            // writer may be waiting for the first one's transaction to end. While it waits, the second one
            // could not begin a transaction.
            db.close()
            let complete = try openInTransaction()
            defer { complete.close() }
            if let report {
                try SQLiteStore.VirtualTableProblem.problems(foundBy: check, in: virtualTables, of: complete)
                    .forEach(report)
            }
            try body(complete)
        } catch { throw try storeError(for: error) }
    }

    /// Opens a connection and begins a transaction, so that everything is read from one snapshot.
    private func openInTransaction() throws(SQLError) -> SQLiteConnection {
        let db = try open()
        try db.query("BEGIN")
        try db.query("SELECT count(*) FROM sqlite_master")
        return db
    }

    /// A connection that changes neither the database nor the files next to it.
    ///
    /// There is one exception: if another process died in a transaction, SQLite rolls it back. To do that,
    /// and to share a write-ahead log, SQLite needs a connection that is opened for writing. If writing isn't
    /// allowed, SQLite falls back to reading. The last connection that closes usually moves the log into the
    /// file; this one doesn't.
    private func open() throws(SQLError) -> SQLiteConnection {
        let log = try StoreFiles.status(files.store + "-wal")
        let db = try SQLiteConnection.forOwnUse(path: files.store, access: access, busyTimeout: busyTimeout)
        if let log, log.size > 0 { db.keepLogOnClose() }
        try db.query("PRAGMA query_only = ON")
        try preparation.register(on: db)
        return db
    }

    /// Converts an error to one that names the state of the store; returns it unchanged if it isn't about the
    /// store.
    private func storeError(for error: SQLError) throws(SQLError) -> SQLError {
        if error.code == .cancelled { return error }
        guard let code = error.extendedResultCode else {
            // Only the schema is read from a store as text, so invalid text means that its schema can't be
            // read.
            let isOfFile = error.code == .fileFailure || error.code == .invalidText
            return isOfFile ? stateError(.unreachable, from: error) : error
        }
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: return stateError(.busy, from: error)
        // The schema is sound, but this connection can't use it.
        case SQLITE_CORRUPT where error.code == .statementFailed: return error
        case SQLITE_CORRUPT:
            return stateError(try isOfNewerSchema(error) ? .newerSchema : .damaged, from: error)
        case SQLITE_NOTADB: return try notADatabaseError(from: error)
        case SQLITE_PERM, SQLITE_READONLY, SQLITE_FULL, SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_NOMEM,
            SQLITE_PROTOCOL, SQLITE_NOLFS:
            return stateError(.unreachable, from: error)
        case SQLITE_ERROR where error.message == "unsupported file format":
            return stateError(.newerSchema, from: error)
        default: return error
        }
    }

    private func stateError(
        _ code: SQLError.Code,
        from error: SQLError,
        message: String? = nil
    ) -> SQLError {
        error.with {
            $0.code = code
            $0.message = message ?? $0.message
            $0.path = files.store
            $0.statement = nil
        }
    }

    /// Finds out from the beginning of the file why SQLite reports NOTADB.
    ///
    /// There are three causes: a file format of a later version, an encrypted database without its key, and a
    /// file that really is no database. Only the last is damage.
    private func notADatabaseError(from error: SQLError) throws(SQLError) -> SQLError {
        // The file is read with plain system calls. Closing it releases this process's locks on it. That is
        // harmless, because no connection can have locked a file that SQLite can't read.
        let head: [UInt8]
        do throws(SQLError) { head = try StoreFiles.head(ofFile: files.store, count: 1_024) } catch {
            return try storeError(for: error)
        }
        if head.isEmpty {
            let message = "The file was removed while it was examined"
            return stateError(.unreachable, from: error, message: message)
        }
        // Only encrypted or compressed bytes have so many values: 1,024 random bytes have about 251 different
        // ones, a text has fewer than 100.
        let isRandom = head.count == 1_024 && Set(head).count > 220
        // "SQLite format 3" and a zero byte ("Database File Format", section 1.3).
        if head.starts(with: "SQLite format 3\0".utf8), head.count > 23, head[19] > 2 {
            // In every version of the format, bytes 21 to 23 have the values 64, 32 and 32 (the same
            // section). If they don't, the file may be encrypted: some encryption leaves the first 16 bytes
            // readable.
            if !isRandom || head[21...23] == [64, 32, 32] {
                let message = "The file is in the format of a newer SQLite (read version \(head[19]))"
                return stateError(.newerSchema, from: error, message: message)
            }
        }
        if !isRandom { return stateError(.damaged, from: error) }
        if files.mayBeEncrypted == false {
            let message = "The file begins with random bytes and is not a database"
            return stateError(.damaged, from: error, message: message)
        }
        let advice = files.mayBeEncrypted == nil ? "" : ": make the store with mayBeEncrypted: false"
        let message =
            "The file looks like an encrypted database, which this SQLite cannot read. If no release of the app has"
            + " encrypted it, it is damaged\(advice)"
        return stateError(.unreachable, from: error, message: message)
    }

    /// True if the rows of the schema are intact, and the only problem is a statement in them that SQLite
    /// can't compile.
    ///
    /// SQLite reports a statement that it can't compile as a "malformed database schema" and as CORRUPT, even
    /// if a later version understands the statement.
    private func isOfNewerSchema(_ error: SQLError) throws(SQLError) -> Bool {
        guard error.message.hasPrefix("malformed database schema"),
            !["invalid rootpage", "orphan index"].contains(where: error.message.hasSuffix)
        else { return false }
        do throws(SQLError) {
            let db = try open()
            db.allowUnreadableSchema()
            // A sound row has a kind, a name, an existing table, and a statement that creates something.
            let rows = try db.query(
                """
                SELECT type IN ('table', 'index', 'view', 'trigger') AND name <> '' AND typeof(rootpage) = 'integer'
                AND EXISTS (SELECT 1 FROM sqlite_master WHERE name = object.tbl_name COLLATE NOCASE)
                AND CASE WHEN sql IS NULL THEN type = 'index' ELSE sql LIKE 'CREATE %' END, name, sql
                FROM sqlite_master AS object
                """
            )
            return rows.allSatisfy { $0[0] == 1 }
        } catch let failure {
            if failure.code == .damaged || failure.code == .invalidText { return false }
            throw failure
        }
    }
}
