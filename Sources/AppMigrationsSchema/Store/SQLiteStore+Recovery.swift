internal import AppMigrations
public import AppMigrationsSQLite

extension SQLiteStore {
    /// A store that was renamed, with the files next to it.
    public struct SetAside: Sendable {
        /// The path that the store has now, `<storePath>-corrupt-<date and time in UTC>`.
        ///
        /// If only a log or a journal was left, there is no file at this path. The log or journal has this
        /// path with its own ending.
        public let path: String

        /// The path that the store had, with symbolic links resolved.
        ///
        /// To restore a backup, copy it to this path. The backup that `migrateStaged` makes has this path and
        /// an extension.
        public let storePath: String

        /// The damage; `nil` if an earlier launch of the app set the store aside, or if the store was not
        /// damaged.
        public let error: SQLError?
    }

    /// Renames a damaged store and the files next to it, and deletes nothing.
    ///
    /// The method examines the store itself, and does nothing if it finds no damage. These states don't count
    /// as damage: the store is busy, unreadable, encrypted, written by a newer SQLite, or on a failing disk;
    /// its migration failed; or a virtual table has a problem.
    ///
    /// A store that holds nothing of its own, such as a cache, can be set aside if it can't be migrated: pass
    /// `onlyIfDamaged: false`. Then no other connection may be in a transaction, nor have the store open in
    /// WAL mode. Close your own connections first.
    ///
    /// - Parameters:
    ///   - onlyIfDamaged: If true, a store without damage stays where it is, and the call throws.
    ///   - check: How thoroughly the store is read. With `off`, damage is found only in the schema.
    ///   - lockTimeout: How long to wait for locks of other connections and processes.
    /// - Returns: The new path, such as `<path>-corrupt-20261121T035428Z`, and the damage.
    /// - Throws: `SQLError`: `SQLError.Code.notDamaged`, also if the store is missing or empty;
    ///   `SQLError.Code.newerSchema`, `SQLError.Code.busy` and `SQLError.Code.unreachable` for a store in
    ///   that state; `SQLError.Code.fileFailure`, `SQLError.Code.cancelled` and `SQLError.Code.cannotOpen`.
    ///   Only `SQLError.Code.cleanupFailed` is thrown after the store was set aside.
    @discardableResult
    public func setAside(
        onlyIfDamaged: Bool = true,
        check: Check = .off,
        lockTimeout: Duration = .seconds(5)
    ) throws(SQLError) -> SetAside {
        let files = try files
        return try files.holdingLock(
            wait: lockTimeout,
            success: { "The store was set aside as \($0.path)" }
        ) { () throws(SQLError) in
            if let moved = try files.setAsideIfDamaged(check: check, busyTimeout: lockTimeout) {
                return moved
            }
            if !onlyIfDamaged, try files.hasBytes { return try files.setAside(lockTimeout: lockTimeout) }
            throw files.error(.notDamaged, "The store is not damaged")
        }
    }

    /// Opens the store, or creates it; a damaged store is set aside first.
    ///
    /// `recovering` is called after the store was set aside. Tell the user, and copy a backup to
    /// ``SetAside/storePath`` if there is one. Then the file at that path is opened. If there is none, a new
    /// database with one empty page is created. As a consequence, a change of `PRAGMA auto_vacuum` or
    /// `page_size` needs a `VACUUM`.
    ///
    /// If `recovering` throws, or the process dies before it returns, the next call sets that file aside as
    /// well and calls `recovering` again.
    ///
    /// - Parameters:
    ///   - check: How thoroughly the store is read before it is opened.
    ///   - busyTimeout: How long to wait for locks. It also becomes the busy timeout of the returned
    ///     connection.
    ///   - reporting: Called before the store is opened, for each virtual table that has a problem or can't
    ///     be checked. Such a problem doesn't count as damage. Without the closure, or if `check` is `off`,
    ///     virtual tables aren't checked.
    ///   - recovering: Called for a store that was set aside.
    /// - Returns: The connection.
    /// - Throws: `SQLError`: `SQLError.Code.newerSchema`, `SQLError.Code.busy` and
    ///   `SQLError.Code.unreachable` for a store in that state, which isn't changed; `SQLError.Code.damaged`
    ///   if the file that `recovering` left is damaged, too; `SQLError.Code.migrationFailed` with an error of
    ///   `recovering`, or that error itself if it is an `SQLError`; `SQLError.Code.statementFailed` for a
    ///   check without a collation of the app; `SQLError.Code.cannotOpen` if the store's folder doesn't
    ///   exist; `SQLError.Code.fileFailure` and `SQLError.Code.cancelled`.
    public func open(
        check: Check = .off,
        busyTimeout: Duration = .seconds(5),
        reporting: ((VirtualTableProblem) -> Void)? = nil,
        recovering: (SetAside) throws -> Void
    ) throws(SQLError) -> SQLiteConnection {
        let files = try files
        // The first examination doesn't hold the lock, so another process may set the store aside at the same
        // time. The journal at the store's name may then belong to another store, and a connection that can
        // write would apply it. So the connection of this examination is read-only. A journal that has to be
        // applied is left to the second examination, which holds the lock.
        var found: SQLError?
        var problems = [VirtualTableProblem]()
        let collect: ((VirtualTableProblem) -> Void)? = reporting == nil ? nil : { problems.append($0) }
        do throws(SQLError) {
            try StoreExamination(files: files, busyTimeout: busyTimeout, access: .reading)
                .examine(check: check, reporting: collect)
        } catch {
            // A store can also be unreachable because another process is renaming it, so it is examined
            // again.
            guard error.code == .damaged || error.code == .unreachable else { throw error }
            found = error
        }
        let isNeeded = if found == nil { try files.hasLeftovers() } else { true }
        do throws(SQLError) {
            if isNeeded {
                problems = []
                try recoverIfNeeded(
                    files,
                    check: check,
                    busyTimeout: busyTimeout,
                    reporting: collect,
                    recovering: recovering
                )
            }
        } catch {
            // If the lock file can't be created or locked, nothing can be set aside. Then the error of the
            // first examination says more.
            guard let found, found.code == .unreachable, error.path?.hasPrefix(files.copy) == true
            else { throw error }
            throw found
        }
        if let reporting { problems.forEach(reporting) }
        return try SQLiteConnection(path: files.store, access: .creating, busyTimeout: busyTimeout)
    }

    /// Examines the store again under the lock, because another process may have recovered it, and recovers
    /// it if that is still needed.
    private func recoverIfNeeded(
        _ files: StoreFiles,
        check: Check,
        busyTimeout: Duration,
        reporting report: ((VirtualTableProblem) -> Void)?,
        recovering: (SetAside) throws -> Void
    ) throws(SQLError) {
        try files.holdingLock(wait: busyTimeout, success: { _ in nil }) { () throws(SQLError) in
            try files.setAsideUnfinishedStore()
            var moved = try files.setAsideIfDamaged(
                check: check,
                busyTimeout: busyTimeout,
                writingMarker: true
            )
            if moved == nil { moved = try files.storeOfUnfinishedRecovery() }
            if let moved {
                do { try recovering(moved) } catch {
                    let outcome =
                        "The damaged store was set aside as \(moved.path), and the next call recovers again"
                    throw SQLError.failure(error, of: files.store, outcome: outcome)
                }
                // Create a database with one page, so that the next start doesn't recover again. But don't do
                // it if the app has left only a log or a journal here, because SQLite would delete it.
                if try !files.hasBytes, try files.orphanedLogError() == nil {
                    let db = try SQLiteConnection.forOwnUse(
                        path: files.store,
                        access: .creating,
                        busyTimeout: busyTimeout
                    )
                    try db.query("BEGIN IMMEDIATE")
                    try db.query("COMMIT")
                }
                try files.synchronizeStore()
            }
            // The recovery is complete, so remove the marker file. Otherwise a store that the app deletes
            // later would look like an unfinished recovery.
            try SQLError.ofFile(files.recoveryMarker, "The marker file of the recovery could not be removed")
            {
                try Platform.removeIfPresent($0)
            }
            try StoreExamination(files: files, busyTimeout: busyTimeout)
                .examine(check: check, reporting: report)
        }
    }
}
