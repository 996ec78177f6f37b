/// A database file of the app: what state it is in, how it is migrated on a copy, and what happens when it is
/// damaged.
///
/// A store is a path and nothing else; each method opens the file and closes it again. The guides
/// <doc:ReplacingAStore> and <doc:WhenADatabaseIsDamaged> show how.
///
/// Beside the file, names that begin with the store's own belong to it: SQLite's `-journal`, `-wal` and `-shm`,
/// `.migrating` with further endings while a copy is migrated, and `-corrupt-` with a time for what was set
/// aside.
public struct SQLiteStore: Sendable, Hashable {
    /// The path of the database's file.
    public let path: String

    /// Names a store; nothing is opened or looked at.
    ///
    /// - Parameter path: The path of the file, which need not be there yet. It is never read as a URI.
    public init(path: String) { self.path = path }
}

/// The names of a store's files.
struct StoreFiles {
    /// The store itself, without links: SQLite keeps a journal beside the file that a link leads to.
    let store: String

    init(of path: String) throws(SQLError) {
        if path.isEmpty || path.utf8.contains(0) || path == ":memory:" {
            throw SQLError(.cannotOpen, "A store needs the path of a file")
        }
        store = try SQLError.ofFile(path, "The store could not be found") { () throws(Platform.Failure) in
            try Platform.realPath(of: path) ?? path
        }
    }

    static let sidecarEndings = ["-journal", "-wal", "-shm"]

    /// The copy that is migrated.
    var copy: String { store + ".migrating" }
    /// The backup until it is complete.
    var newBackup: String { copy + "-backup" }
    /// Held by whoever migrates a copy or sets the store aside.
    var lock: String { copy + "-lock" }

    static func sidecars(of path: String) -> [String] { sidecarEndings.map { path + $0 } }

    /// Removes the copies that a process left which died.
    ///
    /// Only under the lock.
    func removeLeftovers() throws(SQLError) {
        for file in [copy, newBackup].flatMap({ [$0] + Self.sidecars(of: $0) }) {
            try SQLError.ofFile(file, "A left-over copy could not be removed") {
                () throws(Platform.Failure) in
                try Platform.removeFile(file)
            }
        }
    }
}

extension SQLError {
    /// Runs calls of the C library, and makes a failure one of this library that names the file.
    @discardableResult
    static func ofFile<Value>(
        _ path: String,
        _ message: String,
        _ body: () throws(Platform.Failure) -> Value
    ) throws(SQLError) -> Value {
        do throws(Platform.Failure) {
            return try body()
        } catch {
            var wrapped = SQLError(.fileFailure, "\(message): \(error.message)")
            wrapped.path = path
            throw wrapped
        }
    }
}
