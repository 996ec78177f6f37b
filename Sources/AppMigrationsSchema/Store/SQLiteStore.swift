internal import AppMigrations
@_exported public import AppMigrationsSQLite

/// A database file of the app.
///
/// It can be examined, migrated on a copy, and set aside if it is damaged.
///
/// A store is only a path: each method opens the file and closes it again. The guides <doc:ReplacingAStore>
/// and <doc:WhenADatabaseIsDamaged> show how.
///
/// These files next to it belong to it, with names that begin with ``resolvedPath``: SQLite's `-journal`,
/// `-wal` and `-shm`, `.migrating` with further endings while a copy is migrated, `.recovering` until a
/// recovery has ended, and `-corrupt-` with a time for a store that was set aside.
public struct SQLiteStore: Sendable, Hashable {
    /// The path of the database's file.
    public let path: String

    /// Describes a store; nothing is opened or read.
    ///
    /// - Parameter path: The path of the file, which need not exist yet. It is never read as a URI.
    public init(path: String) { self.path = path }

    /// The path with all symbolic links resolved; the file need not exist yet.
    ///
    /// SQLite keeps the journal next to the file that a link leads to. So all files of the store are there,
    /// for example a backup with the name `<resolvedPath>.bak`. Each access resolves the links again.
    ///
    /// - Throws: `SQLError` with the code `SQLError.Code.unreachable` if a folder of the path can't be
    ///   searched, links lead in a circle, or the path isn't UTF-8; with the code `SQLError.Code.cannotOpen`
    ///   if it isn't the path of a file.
    public var resolvedPath: String { get throws(SQLError) { try StoreFiles(of: path).store } }
}

/// The names of a store's files.
struct StoreFiles {
    /// The path of the store, with links resolved, because SQLite keeps a journal next to the file that a
    /// link leads to.
    let store: String

    init(of path: String) throws(SQLError) {
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
            throw SQLError(.unreachable, "The store could not be found: \(reason)").with { $0.path = path }
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

    /// Removes the copies that a crashed process left, and finally the lock file if `includingLock` is true.
    ///
    /// The caller holds the lock.
    func removeLeftovers(includingLock: Bool = false) throws(SQLError) {
        let copies = [copy, newBackup].flatMap { file in Self.endings.map { file + $0 } }
        for file in copies + (includingLock ? [lock] : []) {
            try SQLError.ofFile(file, "A leftover file could not be removed") {
                try Platform.removeIfThere($0)
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

    /// The error for a store that is missing or empty, while its log or its journal still has content.
    ///
    /// SQLite deletes a log or a journal next to a missing or empty database, as soon as it opens that
    /// database. But the file may have the only copy of the rows. So opening the store must fail first.
    ///
    /// Two kinds of journals have no rows: the journal of a database that is just being created in a
    /// transaction, and a journal that a commit left in the journal mode PERSIST. Both have zero in the four
    /// bytes from 16 on, which are the "Initial size of the database in pages" ("Database File Format",
    /// section 3). They cause no error.
    ///
    /// - Returns: The error; `nil` if the store has bytes or has neither a log nor a journal.
    func orphanedLogError() throws(SQLError) -> SQLError? {
        // The log is read first, because a database that is being created has bytes before its log has any.
        let log = try Self.status(store + "-wal")?.size ?? 0
        let status = try Self.status(store)
        if let status, status.size > 0 || status.kind != .file { return nil }
        let state = status == nil ? "missing" : "empty"
        if log > 0 { return error(.damaged, "The file is \(state), but its write-ahead log is not") }
        let journal = try Self.head(ofFile: store + "-journal", count: 20)
        if journal.isEmpty || journal.dropFirst(16) == [0, 0, 0, 0] { return nil }
        return error(.damaged, "The file is \(state), but its rollback journal is not")
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
