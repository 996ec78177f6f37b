internal import AppMigrations
public import AppMigrationsSQLite

extension SQLiteStore {
    /// A store that was renamed, with the files next to it.
    public struct SetAside: Sendable {
        /// The path that the store has now, `<storePath>-corrupt-<date and time in UTC>`.
        ///
        /// If the store's file was missing, only its log or its journal has this name, with its ending.
        public let path: String

        /// The path that the store had, without links.
        ///
        /// A backup is copied to this path, and has a name that begins with it.
        public let storePath: String

        /// The damage; `nil` if an earlier start set the store aside, or if the store was not damaged.
        public let error: SQLError?
    }

    /// Renames a damaged store and the files next to it, and deletes nothing.
    ///
    /// It examines the store itself, and does nothing without damage. A store is not damaged if it is busy,
    /// forbidden, encrypted, from a newer SQLite, or on a failing disk. Nor is it if its migration failed, or
    /// if a virtual table is wrong.
    ///
    /// A store that holds nothing of its own, such as a cache, can be set aside if it can't be migrated: pass
    /// `onlyIfDamaged: false`. Then no other connection may be in a transaction, nor have the store open in
    /// WAL mode. Close your own connections first.
    ///
    /// - Parameters:
    ///   - onlyIfDamaged: True if a sound store is to stay.
    ///   - check: How thoroughly the store is read. With `off`, damage is found only in the schema.
    ///   - lockTimeout: How long to wait for others.
    /// - Returns: The new path, such as `<path>-corrupt-20261121T035428Z`, and the damage.
    /// - Throws: `SQLError`: `SQLError.Code.notDamaged`, also if there is no store, or a file without a byte;
    ///   `SQLError.Code.newerSchema`, `SQLError.Code.busy` and `SQLError.Code.unreachable` for a store in
    ///   that state; `SQLError.Code.fileFailure`, `SQLError.Code.cancelled` and `SQLError.Code.cannotOpen`.
    ///   Only `SQLError.Code.cleanupFailed` is thrown after the store was set aside.
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
            if let moved = try files.setAsideIfDamaged(check: check, busyTimeout: lockTimeout) {
                return moved
            }
            if !onlyIfDamaged, try files.hasBytes { return try files.setAside(lockTimeout) }
            throw files.error(.notDamaged, "The store is not damaged")
        }
    }

    /// Opens the store, or creates it; a damaged store is set aside first.
    ///
    /// `recovering` is called after the store was set aside. Tell the user, and copy a backup to
    /// ``SetAside/storePath`` if there is one. The file that is there afterwards is opened. If there is none,
    /// a new database of one empty page is created, so that a change of `PRAGMA auto_vacuum` or `page_size`
    /// needs a `VACUUM`. If `recovering` throws, or the process dies before it returns, the next call sets
    /// that file aside as well and calls `recovering` again.
    ///
    /// - Parameters:
    ///   - check: How thoroughly the store is read before it is opened.
    ///   - busyTimeout: How long to wait for others, also as the setting of the connection.
    ///   - reporting: Called before the store is opened, for each virtual table that the check complains
    ///     about or can't check. That is no damage of the store. Without it, virtual tables aren't checked.
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
        let files = try StoreFiles(of: path)
        // Without the lock, another process may set the store aside during this examination. A journal at its
        // name is then that of another store, and a connection that can write would play it back. This
        // connection can't write. A journal that has to be played back waits for the examination under the
        // lock.
        var found: SQLError?
        var problems = [VirtualTableProblem]()
        let collect: ((VirtualTableProblem) -> Void)? = reporting == nil ? nil : { problems.append($0) }
        do throws(SQLError) {
            _ = try StoreLook(files: files, busyTimeout: busyTimeout, access: .reading)
                .isUsable(check, reporting: collect)
        } catch {
            // A store that another process is renaming is unreachable, too.
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
            // If the lock can't be taken, nothing can be set aside, and the first error tells more.
            guard let found, found.code == .unreachable, error.path?.hasPrefix(files.copy) == true
            else { throw error }
            throw found
        }
        if let reporting { problems.forEach(reporting) }
        return try SQLiteConnection(path: files.store, access: .creating, busyTimeout: busyTimeout)
    }

    /// Examines the store again under the lock, because another process may have recovered it, and recovers
    /// it if needed.
    private func recover(
        _ files: StoreFiles,
        _ check: Check,
        _ busyTimeout: Duration,
        reporting report: ((VirtualTableProblem) -> Void)?,
        _ recovering: (SetAside) throws -> Void
    ) throws(SQLError) {
        try files.holdingLock(wait: busyTimeout, done: { _ in nil }) { () throws(SQLError) in
            try files.setAsideUnfinished()
            var moved = try files.setAsideIfDamaged(check: check, busyTimeout: busyTimeout, toRecover: true)
            if moved == nil { moved = try files.unrecovered() }
            if let moved {
                do { try recovering(moved) } catch {
                    let outcome =
                        "The damaged store was set aside as \(moved.path), and the next call recovers again"
                    throw SQLError.failure(error, of: files.store, outcome)
                }
                // A store with a page isn't recovered again. SQLite would delete a log or a journal with that
                // page.
                if try !files.hasBytes, try files.orphan() == nil {
                    let db = try SQLiteConnection(
                        path: files.store,
                        access: .creating,
                        busyTimeout: busyTimeout
                    )
                    try db.query("BEGIN IMMEDIATE")
                    try db.query("COMMIT")
                }
                try files.synchronizeStore()
            }
            // The recovery has ended. If the app removes the store one day, the next start creates a new one.
            try SQLError.ofFile(files.recovery, "The mark of a recovery could not be removed") {
                try Platform.removeIfThere($0)
            }
            _ = try StoreLook(files: files, busyTimeout: busyTimeout).isUsable(check, reporting: report)
        }
    }
}
