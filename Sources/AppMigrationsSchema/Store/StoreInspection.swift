internal import AppMigrations
internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

/// The finding of a look at a store.
///
/// Damage is only what SQLite calls so (NOTADB, CORRUPT) and nothing else explains. That a file is busy, not
/// allowed, on a full or failing disk says nothing about what it holds.
enum StoreInspection {
    case none
    case usable
    case damaged(SQLError)
    case newer(SQLError)
    case busy(SQLError)
    case unreachable(SQLError)

    /// Opens the store for reading, and gives the connection to `body` where there is something to read.
    ///
    /// Errors that say something about the store become one of the cases; others come out.
    static func of(
        _ files: StoreFiles,
        check: SQLiteStore.Check,
        busyTimeout: Duration,
        as access: SQLiteConnection.Access = .writing,
        _ body: (SQLiteConnection) throws(SQLError) -> Void = { (_) throws(SQLError) in }
    ) throws(SQLError) -> StoreInspection {
        try StoreLook(files: files, access: access, busyTimeout: busyTimeout).found(check, body)
    }

    static func error(_ code: SQLError.Code, _ message: String, _ files: StoreFiles) -> SQLError {
        SQLError(code, message).with { $0.path = files.store }
    }
}

/// One look at a store.
private struct StoreLook {
    let files: StoreFiles
    let access: SQLiteConnection.Access
    let busyTimeout: Duration

    func found(
        _ check: SQLiteStore.Check,
        _ body: (SQLiteConnection) throws(SQLError) -> Void
    ) throws(SQLError) -> StoreInspection {
        do throws(SystemCallError) {
            // A file without a byte is not opened: SQLite would delete its log and its journal.
            if let orphan = try files.orphan() { return .damaged(error(.damaged, orphan)) }
            guard let status = try Platform.status(files.store) else { return .none }
            if status.kind != .file { return .unreachable(error(.unreachable, "It is not a file")) }
            if status.size == 0 { return .none }
        } catch {
            return .unreachable(self.error(.unreachable, "\(error)"))
        }
        do throws(SQLError) {
            let db = try open()
            defer { db.close() }
            // One transaction: what is read belongs together.
            try db.query("BEGIN")
            try db.query("SELECT count(*) FROM sqlite_master")
            if try db.query("PRAGMA page_count") == [[0]] { return .none }
            if let damage = try check.damage(of: db) {
                return .damaged(error(.damaged, "The check found damage: \(damage)"))
            }
            try body(db)
            return .usable
        } catch {
            guard let found = try found(error) else { throw error }
            return found
        }
    }

    /// A connection that changes neither the database nor the files beside it.
    ///
    /// It is opened for writing, since SQLite needs that to read after another process died in a transaction, or
    /// to share a write-ahead log; where it is not allowed SQLite falls back to reading. The last connection that
    /// closes moves the log into the file: not this one.
    private func open() throws(SQLError) -> SQLiteConnection {
        let log = files.store + "-wal"
        let message = "The write-ahead log could not be looked at"
        let status = try SQLError.ofFile(log, message) { try Platform.status($0) }
        let db = try SQLiteConnection(path: files.store, access, busyTimeout)
        if let status, status.size > 0 { db.keepLogOnClose() }
        try db.query("PRAGMA query_only = ON")
        return db
    }

    /// The store's state by an error; `nil` for one that says nothing about it.
    private func found(_ error: SQLError) throws(SQLError) -> StoreInspection? {
        func located(_ code: SQLError.Code, _ message: String? = nil) -> SQLError {
            error.with {
                ($0.code, $0.message, $0.path) = (code, message ?? $0.message, files.store)
                $0.statement = nil
            }
        }
        if error.code == .cancelled { return nil }
        switch ResultKind(error) {
        case .busy: return .busy(error.with { $0.path = files.store })
        case .corrupt:
            return try isOfNewerSchema(error) ? .newer(located(.newerSchema)) : .damaged(located(.damaged))
        case .notADatabase: break
        case .unreachable: return .unreachable(located(.unreachable))
        case .unsupportedFormat: return .newer(located(.newerSchema))
        case .other: return nil
        }
        do throws(SystemCallError) {
            switch try StoreHeader.kind(ofFile: files.store) {
            case .none: return .unreachable(self.error(.unreachable, "It was removed meanwhile"))
            case .newer(let version):
                let message = "The file's format is one of a newer SQLite (read version \(version))"
                return .newer(located(.newerSchema, message))
            case .encrypted:
                let message = "The file looks like an encrypted database, which this SQLite cannot read"
                return .unreachable(located(.unreachable, message))
            case .other: return .damaged(located(.damaged))
            }
        } catch {
            return .unreachable(self.error(.unreachable, "\(error)"))
        }
    }

    /// True if the schema can be read as rows, and only a statement in it does not compile.
    ///
    /// A statement that SQLite cannot compile is a "malformed database schema" to it, and CORRUPT, also when the
    /// statement is one that a later release will understand.
    private func isOfNewerSchema(_ error: SQLError) throws(SQLError) -> Bool {
        guard error.message.hasPrefix("malformed database schema") else { return false }
        do throws(SQLError) {
            let db = try open()
            defer { db.close() }
            db.setUnreadableSchemaAllowed()
            return try StoredSchema(of: db).isSound
        } catch let failure {
            if ResultKind(failure) == .corrupt || failure.code == .invalidText { return false }
            throw failure
        }
    }

    private func error(_ code: SQLError.Code, _ message: String) -> SQLError {
        StoreInspection.error(code, message, files)
    }
}

/// The file's state by a result code of SQLite, where that says something.
enum ResultKind {
    case busy, corrupt, notADatabase, unreachable, unsupportedFormat, other

    init(_ error: SQLError) {
        guard let code = error.extendedResultCode else {
            // The only texts of a store that are read are those of its schema.
            self = error.code == .fileFailure || error.code == .invalidText ? .unreachable : .other
            return
        }
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_CORRUPT: self = .corrupt
        case SQLITE_NOTADB: self = .notADatabase
        case SQLITE_PERM, SQLITE_READONLY, SQLITE_FULL, SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_NOMEM,
            SQLITE_PROTOCOL, SQLITE_NOLFS:
            self = .unreachable
        case SQLITE_ERROR where error.message == "unsupported file format": self = .unsupportedFormat
        default: self = .other
        }
    }
}

/// The beginning of a file that SQLite says is no database.
///
/// One error has three causes: a file of a format that comes later, a database that is
/// encrypted while the key is missing, and one that is really none. Only the last is damage. The file is read by
/// plain calls here; no connection of this process can have a lock on it that it would lose.
private enum StoreHeader {
    case none, encrypted, other
    case newer(version: UInt8)

    /// "SQLite format 3" and a zero byte ("Database File Format", section 1.3).
    private static let magic = Array("SQLite format 3\0".utf8)

    static func kind(ofFile path: String) throws(SystemCallError) -> StoreHeader {
        let size = 1_024
        guard let head = try Platform.head(ofFile: path, size) else { return .none }
        if head.starts(with: magic), head.count > 19, head[19] > 2 { return .newer(version: head[19]) }
        // Only encrypted or compressed bytes are spread so: 1,024 random ones have some 251 different values, a text fewer
        // than 100.
        return head.count == size && Set(head).count > 220 ? .encrypted : .other
    }
}
