internal import AppMigrations
@_exported public import AppMigrationsSQLite

/// A database file of the app: what state it is in, how it is migrated on a copy, and what happens when it is
/// damaged.
///
/// A store is a path and nothing else; each method opens the file and closes it again. The guides
/// <doc:ReplacingAStore> and <doc:WhenADatabaseIsDamaged> show how.
///
/// Beside the file, names that begin with ``resolvedPath`` belong to it: SQLite's `-journal`, `-wal` and `-shm`,
/// `.migrating` with further endings while a copy is migrated, `.recovering` until a recovery has ended, and `-corrupt-` with a
/// time for what was set aside.
public struct SQLiteStore: Sendable, Hashable {
    /// The path of the database's file.
    public let path: String

    /// Names a store; nothing is opened or looked at.
    ///
    /// - Parameter path: The path of the file, which need not be there yet. It is never read as a URI.
    public init(path: String) { self.path = path }

    /// The path of the file itself, without links, also where it isn't there yet.
    ///
    /// SQLite keeps the journal beside the file that a link leads to; so all that belongs to the store is
    /// there, a backup with the name `<resolvedPath>.bak` for one. It is asked for at each access.
    ///
    /// - Throws: `SQLError` with the code `SQLError.Code.unreachable` when a folder on the way can't be looked
    ///   through, links lead in a circle, or the path isn't UTF-8; `SQLError.Code.cannotOpen` for what is no path
    ///   of a file.
    public var resolvedPath: String { get throws(SQLError) { try StoreFiles(of: path).store } }
}

/// The names of a store's files.
struct StoreFiles {
    /// The store itself, without links: SQLite keeps a journal beside the file that a link leads to.
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
    /// A store and all that SQLite keeps beside it.
    static let endings = [""] + sidecarEndings

    /// The copy that is migrated.
    var copy: String { store + ".migrating" }
    /// The backup until it is complete.
    var newBackup: String { copy + "-backup" }
    /// Held by the process that migrates a copy or sets the store aside.
    var lock: String { copy + "-lock" }
    /// Holds the end of the name that a damaged store gets; it is there from before the store is set aside until another one has
    /// taken its place.
    var recovery: String { store + ".recovering" }

    /// Removes the copies that a process left which died, and at last the lock's own file.
    ///
    /// Only under the lock.
    func removeLeftovers(andLock isLast: Bool = false) throws(SQLError) {
        let copies = [copy, newBackup].flatMap { file in Self.endings.map { file + $0 } }
        for file in copies + (isLast ? [lock] : []) {
            try SQLError.ofFile(file, "A left-over copy could not be removed") {
                try Platform.removeIfThere($0)
            }
        }
    }

    /// The status of a file of a store, `nil` where there is none.
    static func status(_ path: String) throws(SQLError) -> FileStatus? {
        try SQLError.ofFile(path, "A file of the store could not be looked at") { try Platform.status($0) }
    }

    static func head(_ path: String, _ count: Int) throws(SQLError) -> [UInt8] {
        try SQLError.ofFile(path, "A file of the store could not be read") {
            try Platform.head(ofFile: $0, count)
        }
    }

    /// An error that is about the store.
    func error(_ code: SQLError.Code, _ message: String) -> SQLError {
        SQLError(code, message).with { $0.path = store }
    }

    /// The damage of a store that is missing or has no byte, while a file beside it holds what was in it.
    ///
    /// SQLite deletes a log or a journal once it makes a database at the path. A database that is made in a transaction
    /// has a journal as well while its file is empty. Its header says that there were no pages before: "Initial size of
    /// the database in pages", the four bytes from 16 on ("Database File Format", section 3). Zeros stand there after a
    /// commit in the journal mode PERSIST, too.
    ///
    /// - Returns: The complaint, `nil` where the store has bytes or nothing lies there.
    func orphan() throws(SQLError) -> SQLError? {
        // The log first: a database that is being made has bytes before its log has one.
        let log = try Self.status(store + "-wal")?.size ?? 0
        let status = try Self.status(store)
        if let status, status.size > 0 || status.kind != .file { return nil }
        let state = status == nil ? "missing" : "empty"
        if log > 0 { return error(.damaged, "The file is \(state), but its write-ahead log is not") }
        let journal = try Self.head(store + "-journal", 20)
        if journal.isEmpty || journal.dropFirst(16) == [0, 0, 0, 0] { return nil }
        return error(.damaged, "The file is \(state), but its rollback journal is not")
    }
}

extension SQLError {
    /// Runs calls of the C library for a file, and makes a failure one of this library that names it.
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
