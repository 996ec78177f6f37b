public import AppMigrationsSQLite

extension SQLiteStore {
    /// Migrates a copy of the store, checks the copy, and writes it back into the store.
    ///
    /// An SQLite transaction is already all or nothing. Use a copy for changes that can't be in one
    /// transaction (`VACUUM`, a pragma, several commits), to check the result before anyone sees it, or to
    /// keep a backup. Whatever goes wrong, and whenever the process dies, the store has either its old
    /// content or its new content.
    ///
    /// **Other writers** wait until the migration is done, or get SQLite's busy error. Nothing that they
    /// committed is lost. The write lock has to be released for a moment before the copy is written into the
    /// store. If another process commits something in that moment, the store is copied again, and **`body`
    /// runs once more**, on the new copy.
    ///
    /// If `body` wrote nothing, nothing is checked or replaced, and an earlier backup stays. Committed writes
    /// of another connection to the copy count as writes. If there is no store yet, the copy is empty.
    ///
    /// - Parameters:
    ///   - backupExtension: With `bak`, the old store is kept next to it, as its name and `.bak`, and
    ///     replaces an earlier backup. An earlier backup is kept if the call fails, if `body` writes nothing,
    ///     or if the store had no table except this library's own. If there is an earlier backup, the new one
    ///     is checked as well, so that a damaged store doesn't replace it.
    ///   - check: How thoroughly the copy is read after `body` returned. Damage is an error, even if the
    ///     store had it before. Rows that break a constraint and rows that refer to a missing row are an
    ///     error, unless the store had them before.
    ///   - lockTimeout: How long to wait for other writers and for another process that migrates the store.
    ///   - progress: Called before each phase, after about every thousand pages that are copied, and a few
    ///     times a second while a statement runs. If it returns ``Answer/cancel``, the migration stops.
    ///   - prepare: Called with the `sqlite3 *` of the connection of `body` and of each connection that
    ///     checks, before anything is read there. Register the functions, collations, tokenizers and modules
    ///     of your app.
    ///   - reporting: Called after the store was replaced, for each virtual table that has a problem or can't
    ///     be checked. Such a problem has no other effect. Without the closure, or if `check` is `off`,
    ///     virtual tables aren't checked.
    ///   - body: The migration, on a connection to the copy. Keep neither the connection nor the copy's path.
    ///     If it writes anything, even with a `VACUUM`, the store and the backup are replaced. So first check
    ///     in the copy whether there is something to do: another process may already have migrated the store.
    /// - Returns: True if the store was replaced.
    /// - Throws: `SQLError`. The store is then unchanged, or an empty file if there was none.
    ///   `SQLError.Code.busy`; `SQLError.Code.alreadyInTransaction` if `body` left a transaction open;
    ///   `SQLError.Code.cancelled` if the task was cancelled; `SQLError.Code.stopped` if `progress` returned
    ///   `.cancel`; `SQLError.Code.migrationFailed` with the error of `body`, or that error itself if it is
    ///   an `SQLError`; `SQLError.Code.damaged`, `SQLError.Code.constraintViolation` and
    ///   `SQLError.Code.foreignKeyViolation` from the check; `SQLError.Code.damaged` also if the store is
    ///   missing while its log exists; `SQLError.Code.unreachable` and `SQLError.Code.fileFailure`;
    ///   `SQLError.Code.cannotOpen` for a path or an extension that can't be used; and SQLite's other errors.
    ///   Only `SQLError.Code.cleanupFailed` is thrown after the store was replaced.
    @discardableResult
    public func migrateStaged(
        backupExtension: String? = nil,
        check: Check = .full,
        lockTimeout: Duration = .seconds(60),
        progress: (Progress) -> Answer = { _ in .continue },
        preparing prepare: @escaping @Sendable (OpaquePointer) throws -> Void = { _ in },
        reporting: ((VirtualTableProblem) -> Void)? = nil,
        body: (SQLiteConnection) throws -> Void
    ) throws(SQLError) -> Bool {
        let files = try files
        let backup = try backupExtension.map { ending throws(SQLError) in
            try Self.backupPath(of: files, withExtension: ending)
        }
        var migration = StagedMigration(
            files: files,
            backup: backup,
            check: check,
            checksVirtualTables: reporting != nil,
            lockTimeout: lockTimeout
        )
        migration.preparation = ConnectionPreparation(prepare)
        let done: (StagedMigration.Outcome) -> String? = { $0.isReplaced ? "The store was replaced" : nil }
        let outcome = try files.holdingLock(wait: lockTimeout, success: done) { () throws(SQLError) in
            try migration.run(reportingTo: progress, body)
        }
        if let reporting { outcome.virtualTableProblems.forEach(reporting) }
        return outcome.isReplaced
    }

    /// Removes the temporary files of a process that died in
    /// ``migrateStaged(backupExtension:check:lockTimeout:progress:preparing:reporting:body:)``.
    ///
    /// Call it at launch if there is nothing to migrate. Each call of `migrateStaged`, `setAside` and `open`
    /// does the same. If nothing was left, the method only checks whether a few files exist. If another
    /// process is working on the store, that process removes the files.
    ///
    /// - Throws: `SQLError`: `SQLError.Code.fileFailure`, `SQLError.Code.unreachable`, and
    ///   `SQLError.Code.cannotOpen` for a path that can't be used.
    public func removeLeftovers() throws(SQLError) {
        let files = try files
        if try !files.hasLeftovers() { return }
        do throws(SQLError) { try files.holdingLock(wait: .zero, success: { _ in nil }) {} } catch {
            if error.code != .busy { throw error }
        }
    }

    private static func backupPath(
        of files: StoreFiles,
        withExtension ending: String
    ) throws(SQLError) -> String {
        let path = "\(files.store).\(ending)"
        // SQLite would treat a file with the ending of a log or a journal as that of another backup.
        if ending.isEmpty || ending.utf8.contains(UInt8(ascii: "/")) || ending.utf8.contains(0)
            || files.isReserved(path)
            || StoreFiles.sidecarEndings.contains(where: ending.lowercased().hasSuffix)
        {
            throw SQLError(
                .cannotOpen,
                "\"\(ending)\" cannot be the extension of a backup. The migration was not run. Use an extension such as bak"
            )
        }
        return path
    }
}

extension SQLiteStore {
    /// The progress of a staged migration.
    public struct Progress: Sendable, Hashable {
        /// The phases of the work, in the order of the cases.
        ///
        /// The share of each phase in ``fraction`` is an estimate. SQLite copies pages about equally fast in
        /// each phase, but it isn't known in advance how long a migration takes.
        public enum Phase: Sendable, Hashable {
            /// The store is copied: 0 to 0.2 of the whole.
            case copying
            /// `body` runs on the copy: 0.2 to 0.5, by the pages of the copy that it has read.
            case migrating
            /// The copy is checked: 0.5 to 0.7, by the pages that were read.
            case checking
            /// The backup is made: 0.7 to 0.8.
            case backingUp
            /// The copy takes the place of the store: 0.8 to 1.
            case replacing

            fileprivate var part: (start: Double, length: Double) {
                switch self {
                case .copying: (0, 0.2)
                case .migrating: (0.2, 0.3)
                case .checking: (0.5, 0.2)
                case .backingUp: (0.7, 0.1)
                case .replacing: (0.8, 0.2)
                }
            }
        }

        /// The phase of the work.
        public let phase: Phase

        /// The number of pages that this phase has done; 0 if it has none.
        public let completedPages: Int

        /// The number of pages of this phase; 0 if it has none, or if the number isn't known yet.
        public let totalPages: Int

        /// The part of all phases that is done, from 0 to 1.
        ///
        /// It never decreases during a call of `migrateStaged`, even if the store is copied again because
        /// another process wrote to it. A phase that isn't needed is skipped. The last value is 1. It is
        /// reported after everything is done, and the answer to it is ignored.
        public internal(set) var fraction: Double

        init(_ phase: Phase, _ completedPages: Int = 0, of totalPages: Int = 0) {
            self.phase = phase
            self.completedPages = completedPages
            self.totalPages = totalPages
            let done = totalPages > 0 ? Double(completedPages) / Double(totalPages) : 0
            fraction = phase.part.start + phase.part.length * done
        }
    }

    /// The result of the `progress:` closure, which decides whether the staged migration continues.
    public enum Answer: Sendable, Hashable {
        /// The migration continues.
        case `continue`
        /// The migration stops, and the store is unchanged.
        case cancel
    }
}
