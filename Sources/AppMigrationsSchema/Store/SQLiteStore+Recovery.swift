internal import AppMigrations
public import AppMigrationsSQLite

extension SQLiteStore {
    /// A damaged store that is out of the way, with all it holds.
    public struct SetAside: Sendable {
        /// The path of what was the store, `<storePath>-corrupt-<date and time in UTC>`.
        ///
        /// Of a store that was missing, only the log or the journal beside it has this name, with its ending.
        public let path: String

        /// The path at which the store was, without links: where a backup belongs, and what the backup is named after.
        public let storePath: String

        /// The reason; `nil` when an earlier start set it aside, or when it was not damaged.
        public let error: SQLError?
    }

    /// Renames a damaged store and the files beside it, and deletes nothing.
    ///
    /// It looks for the damage itself, and does nothing without it. A store that is busy, not allowed,
    /// encrypted, of a newer SQLite or on a failing disk is not damaged; nor is one whose migration failed.
    ///
    /// A store that holds nothing of its own, such as a cache, can be set aside as well when it can't be migrated, by
    /// `onlyIfDamaged: false`. Others must not be in a transaction then, nor have one in WAL mode open; close
    /// your own connections first.
    ///
    /// - Parameters:
    ///   - onlyIfDamaged: True lets a sound store stay.
    ///   - check: How thoroughly the store is read. With `off` damage counts only where the schema is.
    ///   - lockTimeout: How long to wait for others.
    /// - Returns: The new path, `<path>-corrupt-20261121T035428Z`, and the damage.
    /// - Throws: `SQLError`: `SQLError.Code.notDamaged`, also where there is no store, or one without a byte;
    ///   `SQLError.Code.newerSchema`, `SQLError.Code.busy` and `SQLError.Code.unreachable` when it is that;
    ///   `SQLError.Code.fileFailure`, `SQLError.Code.cancelled` and `SQLError.Code.cannotOpen`; and `SQLError.Code.cleanupFailed` after it
    ///   was set aside.
    @discardableResult
    public func setAside(
        onlyIfDamaged: Bool = true,
        check: Check = .off,
        lockTimeout: Duration = .seconds(5)
    ) throws(SQLError) -> SetAside {
        let files = try StoreFiles(of: path)
        return try files.holdingLock(
            wait: lockTimeout,
            done: { "The store was set aside as \($0.path)" }
        ) { () throws(SQLError) in
            if let moved = try files.setAsideIfDamaged(check, lockTimeout) { return moved }
            if !onlyIfDamaged, try files.hasBytes { return try files.setAside(lockTimeout) }
            throw files.error(.notDamaged, "The store is not damaged")
        }
    }

    /// Opens the store, and makes it where there is none; a damaged one is set aside before.
    ///
    /// `recovering` is called when the store was set aside: tell the user, and put a backup at
    /// ``SetAside/storePath`` if there is one. Whatever is there when it returns is opened; where there is nothing, a
    /// new database of one empty page is made, so that `PRAGMA auto_vacuum` and `page_size` take a `VACUUM` there. If
    /// the process dies before, or it throws, the next call sets that aside as well and calls `recovering` again.
    ///
    /// - Parameters:
    ///   - check: How thoroughly the store is read before.
    ///   - busyTimeout: How long to wait for others, also as the setting of the connection.
    ///   - reporting: Called before the store is opened, for each virtual table that the check complains about or can't
    ///     check. That is no damage of the store. Without it, virtual tables aren't checked.
    ///   - recovering: Called for a store that was set aside.
    /// - Returns: The connection.
    /// - Throws: `SQLError`: `SQLError.Code.newerSchema`, `SQLError.Code.busy` and
    ///   `SQLError.Code.unreachable` when the store is that, which is left as it is;
    ///   `SQLError.Code.damaged` when what `recovering` put there is damaged, too;
    ///   `SQLError.Code.migrationFailed` with an error of `recovering`, or that error itself where it is an `SQLError`;
    ///   `SQLError.Code.cannotOpen` where its folder isn't there; `SQLError.Code.fileFailure` and `SQLError.Code.cancelled`.
    public func open(
        check: Check = .off,
        busyTimeout: Duration = .seconds(5),
        reporting: ((VirtualTableProblem) -> Void)? = nil,
        recovering: (SetAside) throws -> Void
    ) throws(SQLError) -> SQLiteConnection {
        let files = try StoreFiles(of: path)
        // Without the lock another process may set aside what is looked at, and then the journal found by its name is another
        // store's: only a connection that can't write leaves both alone. A journal to be played back is left to the lock.
        var found: SQLError?
        var problems = [VirtualTableProblem]()
        let collect: ((VirtualTableProblem) -> Void)? = reporting == nil ? nil : { problems.append($0) }
        do throws(SQLError) {
            _ = try StoreLook(files: files, busyTimeout: busyTimeout, access: .reading)
                .isUsable(check, reporting: collect)
        } catch {
            // Unreachable is also a store that another process is renaming.
            guard error.code == .damaged || error.code == .unreachable else { throw error }
            found = error
        }
        let isNeeded = if found == nil { try files.hasLeftovers() } else { true }
        do throws(SQLError) {
            if isNeeded {
                problems = []
                try recover(files, check, busyTimeout, reporting: collect, recovering)
            }
        } catch {
            // Without a lock nothing can be set aside, and what was found first tells more.
            guard let found, found.code == .unreachable, error.path?.hasPrefix(files.copy) == true
            else { throw error }
            throw found
        }
        if let reporting { problems.forEach(reporting) }
        return try SQLiteConnection(path: files.store, .making, busyTimeout)
    }

    /// Looks again under the lock, since another process may be at it, and does what is to be done.
    private func recover(
        _ files: StoreFiles,
        _ check: Check,
        _ busyTimeout: Duration,
        reporting report: ((VirtualTableProblem) -> Void)?,
        _ recovering: (SetAside) throws -> Void
    ) throws(SQLError) {
        try files.holdingLock(wait: busyTimeout, done: { _ in nil }) { () throws(SQLError) in
            try files.setAsideUnfinished()
            var moved = try files.setAsideIfDamaged(check, busyTimeout, toRecover: true)
            if moved == nil { moved = try files.unrecovered() }
            if let moved {
                do { try recovering(moved) } catch {
                    let outcome =
                        "The damaged store was set aside as \(moved.path), and the next call recovers again"
                    throw SQLError.failure(error, of: files.store, outcome)
                }
                // With its first page a store is not to be recovered again; SQLite would delete an orphan with it.
                if try !files.hasBytes, try files.orphan() == nil {
                    let db = try SQLiteConnection(path: files.store, .making, busyTimeout)
                    try db.query("BEGIN IMMEDIATE")
                    try db.query("COMMIT")
                }
                try files.synchronizeStore()
            }
            // From now on nothing is to be recovered: the store may be removed one day, and begun anew.
            try SQLError.ofFile(files.recovery, "The mark of a recovery could not be removed") {
                try Platform.removeIfThere($0)
            }
            _ = try StoreLook(files: files, busyTimeout: busyTimeout).isUsable(check, reporting: report)
        }
    }
}
