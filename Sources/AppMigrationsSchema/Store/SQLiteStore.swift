@_exported public import AppMigrationsSQLite

/// A database file of the app.
///
/// It can be examined, migrated on a copy, and set aside if it is damaged.
///
/// A store is only a path: each method opens the file and closes it again. The guide <doc:TheDatabaseFile>
/// shows how.
///
/// These files next to it belong to it, with names that begin with its name: SQLite's `-journal`, `-wal` and
/// `-shm`, `.migrating` with further endings while a copy is migrated, `.recovering` until a recovery has
/// ended, and `-corrupt-` with a time for a store that was set aside. If ``path`` is a link, all of them are
/// next to the file that it leads to, because SQLite keeps the journal there.
public struct SQLiteStore: Sendable, Hashable {
    /// The path of the database's file.
    public let path: String

    /// False if no release of the app encrypts the database.
    ///
    /// If the beginning of a file consists of random bytes, nothing in the file tells an encrypted database
    /// from one that was overwritten. The first is in perfect order, and only the key is missing. So such a
    /// store is `unreachable`. If this property is false, it is damaged, and can be set aside.
    public let mayBeEncrypted: Bool

    /// Describes a store; nothing is opened or read.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which need not exist yet. It is never read as a URI.
    ///   - mayBeEncrypted: Pass false only if no release of the app has ever encrypted the database: see
    ///     ``mayBeEncrypted``.
    public init(path: String, mayBeEncrypted: Bool = true) {
        self.path = path
        self.mayBeEncrypted = mayBeEncrypted
    }

    /// The names of the files; each access resolves the links of the path again.
    var files: StoreFiles {
        get throws(SQLError) { try StoreFiles(of: path, mayBeEncrypted: mayBeEncrypted) }
    }
}
