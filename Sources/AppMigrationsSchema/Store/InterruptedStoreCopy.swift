public import AppMigrationsSQLite

/// A store that an app's own code was copying when it was interrupted.
///
/// A well-known recipe migrates a store in four steps: it renames `notes.sqlite` to `notes.sqlite_bak`,
/// creates the new store, copies the rows, and deletes the backup. If the process dies in between, the backup
/// is left, next to a store that is missing, empty, half full or half written. It is also left if the copy
/// was completed and only the last step failed. The backup's `-wal`, with the last commits, may still have
/// its old name.
///
/// What ``recover(choosing:log:check:lockTimeout:)`` does depends on the state:
///
/// - ``State/none``: It changes nothing.
/// - ``State/backupOnly``: The backup becomes the store again. If there is a store without a table of the
///   app, it is kept under another name.
/// - ``State/both``, ``State/damagedStore``: The file that you choose becomes the store. The other one is
///   kept under another name. Without a choice, the call throws.
/// - ``State/unclearLog``: The log is treated as that of the file that you name in `log:`. Then the recovery
///   continues as in the other states. Without `log:`, the call throws.
///
/// If both files exist, nothing in them shows which one has the right rows. Rows that the store lacks were
/// either never copied, or they were copied and deleted later. Only your app knows, for example by the
/// version that it saves after the copy.
///
/// Nothing that holds data is deleted. A file that isn't the store any more is kept as `<its
/// path>-corrupt-<time>`, like a store that was set aside. If the process dies during the recovery, the next
/// call finds one of the states again and continues.
///
/// Recover before anything opens the store. When SQLite opens a missing store, it creates it. When it opens
/// an empty file, it deletes the log next to it.
public struct InterruptedStoreCopy: Sendable {
    /// The traces that a copy has left.
    public enum State: Sendable, Hashable {
        /// There is no backup, or it is an empty file.
        case none

        /// The backup exists. The store is missing, empty, or has no table of the app.
        case backupOnly

        /// Both exist, and SQLite finds no damage in the store.
        ///
        /// Some rows may be missing in the store. Or the copy was completed, and the backup is out of date.
        case both

        /// Both exist, and the store is damaged or only half written.
        case damagedStore

        /// There is a log or a rollback journal that may belong to either file.
        case unclearLog
    }

    /// One of the two files.
    public enum Choice: Sendable, Hashable {
        /// The file at the store's path.
        case store

        /// The backup.
        case backup
    }

    /// The result of a recovery.
    public struct Recovery: Sendable, Hashable {
        /// The state that was found.
        public let state: State

        /// The new path of the file that isn't the store; `nil` if there was no such file.
        ///
        /// If the file has a `-wal` or a `-journal`, these are next to it. Delete the files once your app has
        /// the data that it needs.
        public let keptPath: String?
    }

    let path: String
    let backupPath: String

    /// Describes the copy; nothing is read or checked yet.
    ///
    /// - Parameters:
    ///   - path: The path of the store.
    ///   - backup: The path to which the recipe renames it, in the same file system; `nil` for the store's
    ///     path with `_bak` at its end. It can't be a path that SQLite or this library uses for a temporary
    ///     file of the store, such as `notes.sqlite.migrating`.
    public init(of path: String, backup: String? = nil) {
        self.path = path
        backupPath = backup ?? path + "_bak"
    }

    /// Finds out what the copy has left, and changes neither file.
    ///
    /// If a log may belong to either file, copies of the files are made next to the store and read together
    /// with the log. They need as much disk space as the files.
    ///
    /// - Parameters:
    ///   - check: How thoroughly the store is read. With `off`, damage is found only in the schema, and the
    ///     owner of a log at the store's name can't be found out. With another check, the call fails if the
    ///     schema uses a collation of the app.
    ///   - lockTimeout: How long to wait for locks of other connections and processes.
    /// - Returns: The state.
    /// - Throws: `SQLError`, as ``recover(choosing:log:check:lockTimeout:)`` does.
    public func state(
        check: SQLiteStore.Check = .quick,
        lockTimeout: Duration = .seconds(5)
    ) throws(SQLError) -> State {
        guard let files = try StoreAndBackup(path: path, backupPath: backupPath) else { return .none }
        return try files.store.holdingLock(wait: lockTimeout, success: { _ in nil }) { () throws(SQLError) in
            try files.traces(log: nil, check: check, lockTimeout: lockTimeout).state
        }
    }

    /// Restores a single store with the right rows.
    ///
    /// First the backup's log is written into the backup, so that only one file has to be renamed. No log is
    /// ever next to a file that it doesn't belong to.
    ///
    /// - Parameters:
    ///   - choice: The file whose rows are the right ones, if both exist. It is ignored in the other states.
    ///   - log: The file to which a log or a journal belongs, if it can belong to either. It is ignored if
    ///     the owner of the log is clear.
    ///   - check: How thoroughly both files are read. With `off`, damage is found only in the schema, and the
    ///     owner of a log at the store's name can't be found out. With another check, the call fails if the
    ///     schema uses a collation of the app.
    ///   - lockTimeout: How long to wait for locks of other connections and processes.
    /// - Returns: The state that was found, and the path of the file that was kept.
    /// - Throws: `SQLError`: `SQLError.Code.undecidedCopy` if both files exist and `choice` is `nil`;
    ///   `SQLError.Code.undecidedLog` if the log can belong to either file and the parameter `log` is `nil`;
    ///   `SQLError.Code.damaged` and `SQLError.Code.newerSchema` for a backup that can't be the store;
    ///   `SQLError.Code.busy` while a connection uses one of the files; `SQLError.Code.unreachable`,
    ///   `SQLError.Code.fileFailure`, `SQLError.Code.cancelled`, `SQLError.Code.cannotOpen` for a path that
    ///   can't be used, and SQLite's other errors. No file was deleted then, and the next call continues.
    ///   Only `SQLError.Code.cleanupFailed` is thrown after the recovery.
    @discardableResult
    public func recover(
        choosing choice: Choice? = nil,
        log: Choice? = nil,
        check: SQLiteStore.Check = .quick,
        lockTimeout: Duration = .seconds(5)
    ) throws(SQLError) -> Recovery {
        guard let files = try StoreAndBackup(path: path, backupPath: backupPath) else {
            // A process may have died right after the last step of its recovery.
            try SQLiteStore(path: path).removeLeftovers()
            return Recovery(state: .none, keptPath: nil)
        }
        return try files.store.holdingLock(
            wait: lockTimeout,
            success: { $0.state == .none ? nil : "The store was recovered" }
        ) { () throws(SQLError) in
            let traces = try files.traces(log: log, check: check, lockTimeout: lockTimeout)
            switch traces.state {
            case .none: return Recovery(state: .none, keptPath: nil)
            case .unclearLog: throw files.undecidedLogError(traces.unclearLog ?? path)
            case .both, .damagedStore:
                guard let choice else { throw files.undecidedCopyError(traces.state) }
                return Recovery(
                    state: traces.state,
                    keptPath: try files.recover(
                        keeping: choice,
                        traces: traces,
                        check: check,
                        lockTimeout: lockTimeout
                    )
                )
            case .backupOnly:
                return Recovery(
                    state: traces.state,
                    keptPath: try files.recover(
                        keeping: .backup,
                        traces: traces,
                        check: check,
                        lockTimeout: lockTimeout
                    )
                )
            }
        }
    }
}
