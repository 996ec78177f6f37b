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
