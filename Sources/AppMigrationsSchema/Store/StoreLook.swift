internal import AppMigrations
internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

/// One examination of a store, which changes nothing.
///
/// A store is damaged only if SQLite says so (NOTADB, CORRUPT) and nothing else explains it. A file that is
/// busy, forbidden, or on a full or failing disk may be sound.
struct StoreLook {
    let files: StoreFiles
    let busyTimeout: Duration
    var access = SQLiteConnection.Access.writing
    var preparation = ConnectionPreparation.none

    /// Checks the store, and passes a connection to `body`.
    ///
    /// - Parameters:
    ///   - check: How thoroughly ordinary tables and the file are checked.
    ///   - report: Called for each virtual table with a problem. Without it, virtual tables aren't checked.
    ///   - body: Reads the store after the check.
    /// - Returns: False if there is no store, or a file without a byte.
    /// - Throws: `SQLError`: `damaged`, `newerSchema`, `busy` and `unreachable` are about the store and say
    ///   what it is. Others, those of `body` for instance, are thrown as they are.
    func isUsable(
        _ check: SQLiteStore.Check,
        reporting report: ((SQLiteStore.VirtualTableProblem) -> Void)? = nil,
        _ body: (SQLiteConnection) throws(SQLError) -> Void = { (_) throws(SQLError) in }
    ) throws(SQLError) -> Bool {
        do throws(SQLError) {
            // A file without a byte isn't opened, because SQLite would delete its log and its journal.
            if let orphan = try files.orphan() { throw orphan }
            guard let status = try StoreFiles.status(files.store) else { return false }
            if status.kind != .file { throw files.error(.unreachable, "It is not a file") }
            if status.size == 0 { return false }
            let db = try begin()
            defer { db.close() }
            if try db.query("PRAGMA page_count") == [[0]] { return false }
            let virtualTables = check == .off ? [] : try SchemaObject.virtualTables(of: db)
            db.removeModules(of: virtualTables)
            if let damage = try Complaints(check, of: db).damage {
                throw files.error(.damaged, "The check found damage: \(damage)")
            }
            if virtualTables.isEmpty {
                try body(db)
                return true
            }
            // The second connection has the modules. The first one ends its transaction before: a writer that
            // waits for that end would not let the second one begin.
            db.close()
            let complete = try begin()
            defer { complete.close() }
            if let report {
                try SQLiteStore.VirtualTableProblem.found(by: check, in: virtualTables, of: complete)
                    .forEach(report)
            }
            try body(complete)
            return true
        } catch { throw try storeError(for: error) }
    }

    /// A connection in a transaction, so that everything it reads is of one moment.
    private func begin() throws(SQLError) -> SQLiteConnection {
        let db = try open()
        try db.query("BEGIN")
        try db.query("SELECT count(*) FROM sqlite_master")
        return db
    }

    /// A connection that changes neither the database nor the files next to it.
    ///
    /// It is opened for writing: SQLite needs that to read after another process died in a transaction, or to
    /// share a write-ahead log. If writing isn't allowed, SQLite falls back to reading. The last connection
    /// that closes usually moves the log into the file, and this one doesn't.
    private func open() throws(SQLError) -> SQLiteConnection {
        let log = try StoreFiles.status(files.store + "-wal")
        let db = try SQLiteConnection(path: files.store, access: access, busyTimeout: busyTimeout)
        if let log, log.size > 0 { db.keepLogOnClose() }
        try db.query("PRAGMA query_only = ON")
        try preparation.register(on: db)
        return db
    }

    /// The error that names the state of the store; `error` itself if that says nothing about the store.
    private func storeError(for error: SQLError) throws(SQLError) -> SQLError {
        func asStoreError(_ code: SQLError.Code, _ message: String? = nil) -> SQLError {
            error.with {
                $0.code = code
                $0.message = message ?? $0.message
                $0.path = files.store
                $0.statement = nil
            }
        }
        if error.code == .cancelled { return error }
        guard let code = error.extendedResultCode else {
            // The only texts that are read from a store are those of its schema.
            let isOfFile = error.code == .fileFailure || error.code == .invalidText
            return isOfFile ? asStoreError(.unreachable) : error
        }
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: return asStoreError(.busy)
        case SQLITE_CORRUPT: return asStoreError(try isOfNewerSchema(error) ? .newerSchema : .damaged)
        case SQLITE_NOTADB: break
        case SQLITE_PERM, SQLITE_READONLY, SQLITE_FULL, SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_NOMEM,
            SQLITE_PROTOCOL, SQLITE_NOLFS:
            return asStoreError(.unreachable)
        case SQLITE_ERROR where error.message == "unsupported file format": return asStoreError(.newerSchema)
        default: return error
        }
        // NOTADB has three causes: a file format of a later version, an encrypted database without its key,
        // and a file that really is no database. Only the last is damage. The file is read by plain calls
        // here. That takes no lock away, because no connection of this process can have locked a file that
        // SQLite can't read.
        let head: [UInt8]
        do throws(SQLError) { head = try StoreFiles.head(ofFile: files.store, count: 1_024) } catch {
            return try storeError(for: error)
        }
        if head.isEmpty { return asStoreError(.unreachable, "It was removed while it was examined") }
        // "SQLite format 3" and a zero byte ("Database File Format", section 1.3).
        if head.starts(with: "SQLite format 3\0".utf8), head.count > 19, head[19] > 2 {
            let message = "The file's format is one of a newer SQLite (read version \(head[19]))"
            return asStoreError(.newerSchema, message)
        }
        // Only encrypted or compressed bytes have so many values: 1,024 random bytes have about 251 different
        // ones, a text has fewer than 100.
        if head.count < 1_024 || Set(head).count <= 220 { return asStoreError(.damaged) }
        let message = "The file looks like an encrypted database, which this SQLite cannot read"
        return asStoreError(.unreachable, message)
    }

    /// True if the schema can be read as rows, and only a statement in it doesn't compile.
    ///
    /// SQLite reports a statement that it can't compile as a "malformed database schema" and as CORRUPT, even
    /// if a later version understands the statement.
    private func isOfNewerSchema(_ error: SQLError) throws(SQLError) -> Bool {
        guard error.message.hasPrefix("malformed database schema"),
            !["invalid rootpage", "orphan index"].contains(where: error.message.hasSuffix)
        else { return false }
        do throws(SQLError) {
            let db = try open()
            db.setUnreadableSchemaAllowed()
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
