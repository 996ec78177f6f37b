internal import AppMigrations
internal import AppMigrationsSQLite

/// The names of a store's files.
struct StoreFiles {
    /// The path of the store, with links resolved, because SQLite keeps a journal next to the file that a
    /// link leads to.
    let store: String

    /// False if random bytes in the place of a database are damage.
    ///
    /// `nil` if the caller's API can't say whether the app encrypts.
    let mayBeEncrypted: Bool?

    init(of path: String, mayBeEncrypted: Bool? = nil) throws(SQLError) {
        self.mayBeEncrypted = mayBeEncrypted
        if path.isEmpty || path.utf8.contains(0) || path == ":memory:" || path.utf8.last == UInt8(ascii: "/")
        {
            throw SQLError(.cannotOpen, "A store needs the path of a file")
        }
        do throws(SystemCallError) {
            store = try Platform.resolvedPath(of: path)
        } catch {
            let reason =
                error.errorNumber == Platform.notText
                ? "it leads to a name that is not UTF-8, which a path has to be here" : "\(error)"
            throw SQLError(.unreachable, "The store could not be found: \(reason)").with {
                $0.path = path
                $0.underlyingError = error
            }
        }
    }

    static let sidecarEndings = ["-journal", "-wal", "-shm"]
    /// The endings of a store and of the files that SQLite keeps next to it.
    static let endings = [""] + sidecarEndings

    /// The copy that is migrated.
    var copy: String { store + ".migrating" }
    /// The temporary name of a backup until it is complete.
    var newBackup: String { copy + "-backup" }
    /// The lock file of the process that migrates a copy or sets the store aside.
    var lock: String { copy + "-lock" }
    /// The marker file of a recovery, which contains the last part of the path that a damaged store is
    /// renamed to.
    ///
    /// It is created before the store is set aside, and deleted when another store is in its place.
    var recoveryMarker: String { store + ".recovering" }

    /// The copies, with the files that SQLite keeps next to them.
    private var copies: [String] { [copy, newBackup].flatMap { file in Self.endings.map { file + $0 } } }

    /// True if a path has a name that SQLite or this library gives to a file next to the store.
    ///
    /// Such a file may be deleted at any time. In some file systems, the case of a name doesn't matter.
    func isReserved(_ path: String) -> Bool {
        let sidecars = Self.sidecarEndings.map { store + $0 }
        return (sidecars + copies + [lock, recoveryMarker]).contains { $0.lowercased() == path.lowercased() }
    }

    /// Removes the copies that a crashed process left, and finally the lock file if `includingLock` is true.
    ///
    /// The caller holds the lock.
    func removeLeftovers(includingLock: Bool = false) throws(SQLError) {
        for file in copies + (includingLock ? [lock] : []) {
            try SQLError.ofFile(file, "A leftover file could not be removed") {
                try Platform.removeIfPresent($0)
            }
        }
    }

    /// The status of a file of a store; `nil` if it doesn't exist.
    static func status(_ path: String) throws(SQLError) -> FileStatus? {
        try SQLError.ofFile(path, "The status of a file of the store could not be read") {
            try Platform.status($0)
        }
    }

    static func head(ofFile path: String, count: Int) throws(SQLError) -> [UInt8] {
        try SQLError.ofFile(path, "A file of the store could not be read") {
            try Platform.head(ofFile: $0, count: count)
        }
    }

    /// An error that is about the store.
    func error(_ code: SQLError.Code, _ message: String) -> SQLError {
        SQLError(code, message).with { $0.path = store }
    }

    /// The error for a store that is missing or empty, while its log has content or its journal is hot.
    ///
    /// SQLite deletes a log or a journal next to a missing or empty database, as soon as it opens that
    /// database. But the log or the journal may have the only copy of the rows. So the store must not be
    /// opened.
    ///
    /// - Returns: The error; `nil` if the store has bytes, or if SQLite would apply neither a log nor a
    ///   journal.
    func orphanedLogError() throws(SQLError) -> SQLError? {
        // The log is read first, because a database that is being created has bytes before its log has any.
        let hasLog = try Self.hasContent(store + "-wal", ending: "-wal")
        let status = try Self.status(store)
        if let status, status.size > 0 || status.kind != .file { return nil }
        let state = status == nil ? "missing" : "empty"
        if hasLog { return error(.damaged, "The file is \(state), but its write-ahead log is not") }
        if try !Self.hasContent(store + "-journal", ending: "-journal") { return nil }
        return error(.damaged, "The file is \(state), but its rollback journal is not")
    }

    /// True if a log or a journal has something that SQLite would apply to its database.
    static func hasContent(_ path: String, ending: String) throws(SQLError) -> Bool {
        guard let status = try status(path), status.kind == .file else { return false }
        // The pages of a log come after its header of 32 bytes ("Database File Format", section 4.1).
        if ending == "-wal" { return status.size > 32 }
        return try isHotJournal(path, size: status.size)
    }

    /// True if the write-ahead log has committed versions of these pages ("Database File Format", sections
    /// 4.1 and 4.2).
    ///
    /// A log of more than 64 MiB isn't read. This returns true for it, because it possibly has the pages.
    func logHasPages(_ pages: ClosedRange<Int64>, pageSize: Int64) throws(SQLError) -> Bool {
        let log = store + "-wal"
        guard let status = try Self.status(log), status.kind == .file else { return false }
        if status.size > 64 << 20 { return true }
        let bytes = try Self.head(ofFile: log, count: Int(status.size))
        func number(at offset: Int) -> Int64 {
            bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
        }
        var written: Set<Int64> = []
        var committed: Set<Int64> = []
        for frame in stride(from: 32, through: bytes.count - 24, by: 24 + Int(pageSize)) {
            // After a checkpoint, SQLite writes the log from its beginning again, with other salts in its
            // header. Frames behind that have older salts, and their pages are in the file already.
            if !bytes[frame + 8..<frame + 16].elementsEqual(bytes[16..<24]) { break }
            let page = number(at: frame)
            if pages.contains(page) { written.insert(page) }
            let isCommit = number(at: frame + 4) != 0
            if isCommit { committed.formUnion(written) }
        }
        return committed.count == pages.count
    }

    /// True if SQLite would roll a journal back.
    ///
    /// A journal is hot if "its size is greater than 512 bytes", "the journal header is non-zero and
    /// well-formed", it has no super-journal or the super-journal exists, and no connection has the RESERVED
    /// lock ("File Locking And Concurrency", section 4.0). SQLite checks the last two conditions when it
    /// opens the database. Without these checks, a journal may be kept longer than necessary, which does no
    /// harm.
    ///
    /// A well-formed header begins with a fixed string ("Database File Format", section 3). SQLite writes it
    /// before it changes the database, and a commit in the journal mode PERSIST overwrites it with zeros.
    ///
    /// The journal of a new database is no reason to keep a file, because a rollback would only empty the
    /// database. It has zero in the four bytes from 16 on, the "Initial size of the database in pages".
    private static func isHotJournal(_ path: String, size: Int) throws(SQLError) -> Bool {
        if size <= 512 { return false }
        let head = try head(ofFile: path, count: 20)
        return head.starts(with: [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
            && head.dropFirst(16).contains { $0 != 0 }
    }
}

extension SQLError {
    /// Runs `body`, which calls the file system, and converts its error to an `SQLError` with the path of the
    /// file.
    @discardableResult
    static func ofFile<Value>(
        _ path: String,
        _ message: String,
        _ body: (String) throws -> Value
    ) throws(SQLError) -> Value {
        do { return try body(path) } catch {
            throw SQLError(.fileFailure, "\(message): \(error)").with { $0.path = path }
        }
    }
}
