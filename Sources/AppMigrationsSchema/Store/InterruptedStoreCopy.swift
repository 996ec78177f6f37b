public import AppMigrationsSQLite

/// A store that was copied by hand, in a copy that may not have come to its end.
///
/// A well-known recipe migrates a store in four steps: it renames `notes.sqlite` to `notes.sqlite_bak`,
/// creates the new store, copies the rows, and deletes the backup. If the process dies in between, the backup
/// stays behind, next to a store that is missing, empty, half full or half written. It also stays behind a
/// copy that was completed, if the last step failed. The backup's `-wal`, with the last commits, may still
/// have its old name.
///
/// | state | what ``recover(choosing:log:check:lockTimeout:)`` does |
/// | --- | --- |
/// | ``State/none`` | It changes nothing. |
/// | ``State/backupOnly`` | The backup becomes the store again. A file without a table is kept under another name. |
/// | ``State/both``, ``State/damagedStore`` | The file that you choose is the store. The other one is kept under another name. Without a choice it throws. |
/// | ``State/unclearLog`` | The log goes with the file that you name in `log:`. Then it does what the other states need. Without `log:` it throws. |
///
/// If both files exist, they don't tell which one has the right rows: rows that the store lacks were either
/// never copied, or copied and deleted since. Only your app knows, for example by the version that it saves
/// after the copy.
///
/// Nothing that holds data is deleted. A file that isn't the store any more is kept as `<its
/// path>-corrupt-<time>`, like a store that was set aside. A process may die at any point: the next call
/// finds one of the states again and goes on.
///
/// Call it before anything opens the store. SQLite creates a missing store when it opens it, and deletes a
/// log that lies next to a file without a byte.
public struct InterruptedStoreCopy: Sendable {
    /// The traces that a copy has left.
    public enum State: Sendable, Hashable {
        /// There is no backup, or one without a byte.
        case none

        /// The backup exists. The store is missing, has no byte, or has no table of the app.
        case backupOnly

        /// Both exist, and SQLite finds no damage in the store.
        ///
        /// Some rows may be missing in the store. Or the copy was completed, and the backup is out of date.
        case both

        /// Both exist, and the store is damaged or only half written.
        case damagedStore

        /// A log or a rollback journal has a name under which it can belong to either file.
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

        /// The path under which the file is kept that isn't the store, with its `-wal` and `-journal` if it
        /// has any; `nil` if there was no such file.
        ///
        /// Delete these files once your app has what it needs.
        public let keptPath: String?
    }

    let path: String
    let backupPath: String

    /// Describes the copy; nothing is read or checked yet.
    ///
    /// - Parameters:
    ///   - path: The path of the store.
    ///   - backup: The path to which the recipe renames it, in the same file system; `nil` for the store's
    ///     path with `_bak` at its end.
    public init(of path: String, backup: String? = nil) {
        self.path = path
        backupPath = backup ?? path + "_bak"
    }

    /// Finds out what the copy has left, and changes neither file.
    ///
    /// If a log has a wrong name, copies of both files are read together with it, next to the store. They
    /// need as much space as the files.
    ///
    /// - Parameters:
    ///   - check: How thoroughly the store is read. With `off`, damage is found only in the schema, and a log
    ///     at the store's name is never clear. A check needs every collation of the schema.
    ///   - lockTimeout: How long to wait for others.
    /// - Returns: The state.
    /// - Throws: `SQLError`, as ``recover(choosing:log:check:lockTimeout:)`` does.
    public func state(
        check: SQLiteStore.Check = .quick,
        lockTimeout: Duration = .seconds(5)
    ) throws(SQLError) -> State {
        guard let files = try StoreAndBackup(path: path, backupPath: backupPath) else { return .none }
        return try files.store.holdingLock(wait: lockTimeout, done: { _ in nil }) { () throws(SQLError) in
            try files.traces(log: nil, check: check, lockTimeout: lockTimeout).state
        }
    }

    /// Lets the app have one store again, with the right rows.
    ///
    /// The log of the backup is written into it first. So the backup is renamed as one file, and no log is
    /// ever next to a file that it doesn't belong to.
    ///
    /// - Parameters:
    ///   - choice: The file whose rows are the right ones, if both exist. It doesn't matter in the other
    ///     states.
    ///   - log: The file to which a log or a journal belongs, if it can belong to either. It doesn't matter
    ///     if the log is clear.
    ///   - check: How thoroughly both files are read. With `off`, damage is found only in the schema, and a
    ///     log at the store's name is never clear. A check needs every collation of the schema.
    ///   - lockTimeout: How long to wait for others.
    /// - Returns: The state that was found, and the path of the file that was kept.
    /// - Throws: `SQLError`: `SQLError.Code.undecidedCopy` if both files exist and `choice` is `nil`;
    ///   `SQLError.Code.undecidedLog` if the log can belong to either file and the parameter `log` is `nil`;
    ///   `SQLError.Code.damaged` and `SQLError.Code.newerSchema` for a backup that can't be the store;
    ///   `SQLError.Code.busy` while a connection uses one of the files; `SQLError.Code.unreachable`,
    ///   `SQLError.Code.fileFailure`, `SQLError.Code.cancelled`, `SQLError.Code.cannotOpen` for a path that
    ///   can't be used, and SQLite's other errors. No file has been deleted then, and the next call goes on.
    ///   Only `SQLError.Code.cleanupFailed` is thrown after the recovery.
    @discardableResult
    public func recover(
        choosing choice: Choice? = nil,
        log: Choice? = nil,
        check: SQLiteStore.Check = .quick,
        lockTimeout: Duration = .seconds(5)
    ) throws(SQLError) -> Recovery {
        guard let files = try StoreAndBackup(path: path, backupPath: backupPath) else {
            // A process may have died right after its last step.
            try SQLiteStore(path: path).removeLeftovers()
            return Recovery(state: .none, keptPath: nil)
        }
        return try files.store.holdingLock(
            wait: lockTimeout,
            done: { $0.state == .none ? nil : "The store was recovered" }
        ) { () throws(SQLError) in
            let traces = try files.traces(log: log, check: check, lockTimeout: lockTimeout)
            switch traces.state {
            case .none: return Recovery(state: .none, keptPath: nil)
            case .unclearLog: throw files.undecidedLogError(traces.unclearLog ?? path)
            case .both, .damagedStore:
                guard let choice else { throw files.undecidedCopyError(traces.state) }
                return Recovery(
                    state: traces.state,
                    keptPath: try files.recover(choice, traces, check: check, lockTimeout: lockTimeout)
                )
            case .backupOnly:
                return Recovery(
                    state: traces.state,
                    keptPath: try files.recover(.backup, traces, check: check, lockTimeout: lockTimeout)
                )
            }
        }
    }
}
