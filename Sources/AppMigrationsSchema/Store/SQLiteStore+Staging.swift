public import AppMigrationsSQLite

extension SQLiteStore {
    /// Migrates a copy of the store, checks the copy, and writes it back into the store.
    ///
    /// A transaction of SQLite makes a migration all or nothing already. A copy is for changes that can't be
    /// in one transaction (`VACUUM`, a pragma, several commits), for a check before anyone sees the result,
    /// and for a backup. Whatever goes wrong, and whenever the process dies, the store is wholly the old one
    /// or wholly the new one.
    ///
    /// **Other writers** wait until it is done, or get SQLite's busy error. Nothing that they committed is
    /// lost. The write lock has to be released for a moment before the copy is written into the store. If
    /// another process commits something in that moment, the store is copied again, and **`body` runs once
    /// more**, on the new copy.
    ///
    /// If `body` wrote nothing, nothing is checked or replaced, and an earlier backup stays. Committed writes
    /// of another connection to the copy count as writes. If there is no store yet, the copy is empty.
    ///
    /// - Parameters:
    ///   - backupExtension: With `bak`, the old store is kept as `<resolvedPath>.bak`, and replaces an
    ///     earlier backup. An earlier backup stays if `body` fails or writes nothing, or if the store had no
    ///     table of the app. See ``resolvedPath``.
    ///   - check: How thoroughly the copy is read after `body` returned. Damage, rows that break a constraint
    ///     and rows that refer to a missing row are an error, unless the store had them before.
    ///   - lockTimeout: How long to wait for other writers and for another process that migrates the store.
    ///   - progress: Called after every few thousand pages, less often during a long statement, and before
    ///     each phase. Its answer can end the call.
    ///   - reporting: Called after the store was replaced, for each virtual table that the check complains
    ///     about or can't check. Nothing else comes of it. Without the closure, virtual tables aren't
    ///     checked.
    ///   - body: The migration, on a connection to the copy. Keep neither the connection nor the copy's path,
    ///     `<resolvedPath>.migrating`. Everything that it writes, even a `VACUUM`, replaces the store and the
    ///     backup. So let it ask the copy whether there is something to do: another process may have migrated
    ///     the store.
    /// - Returns: True if the store was replaced.
    /// - Throws: `SQLError`. The store is then the old one, or a file without a byte if there was none:
    ///   `SQLError.Code.busy`; `SQLError.Code.alreadyInTransaction` for a transaction that `body` left open;
    ///   `SQLError.Code.cancelled` if the task was cancelled; `SQLError.Code.stopped` if `progress` answered
    ///   so; `SQLError.Code.migrationFailed` with the error of `body`, or that error itself if it is an
    ///   `SQLError`; `SQLError.Code.damaged`, `SQLError.Code.constraintViolation` and
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
        reporting: ((VirtualTableProblem) -> Void)? = nil,
        body: (SQLiteConnection) throws -> Void
    ) throws(SQLError) -> Bool {
        let files = try StoreFiles(of: path)
        let backup = try backupExtension.map { ending throws(SQLError) in
            try Self.backupPath(of: files.store, withExtension: ending)
        }
        let migration = StagedMigration(
            files: files,
            backup: backup,
            check: check,
            checksVirtualTables: reporting != nil,
            lockTimeout: lockTimeout
        )
        let done: (StagedMigration.Outcome) -> String? = { $0.isReplaced ? "The store was replaced" : nil }
        let outcome = try files.holdingLock(wait: lockTimeout, done: done) { () throws(SQLError) in
            try migration.run(reportingTo: progress, body)
        }
        if let reporting { outcome.virtualTableProblems.forEach(reporting) }
        return outcome.isReplaced
    }

    /// Removes the files that a process left next to the store if it died in
    /// ``migrateStaged(backupExtension:check:lockTimeout:progress:reporting:body:)``.
    ///
    /// Call it in a start that finds nothing to migrate. Each call of `migrateStaged`, `setAside` and `open`
    /// does the same. If nothing was left, it only asks for a few names. If another process works on the
    /// store, that process removes the files.
    ///
    /// - Throws: `SQLError`: `SQLError.Code.fileFailure`, `SQLError.Code.unreachable`, and
    ///   `SQLError.Code.cannotOpen` for a path that can't be used.
    public func removeLeftovers() throws(SQLError) {
        let files = try StoreFiles(of: path)
        if try !files.hasLeftovers() { return }
        do throws(SQLError) { try files.holdingLock(wait: .zero, done: { _ in nil }) {} } catch {
            if error.code != .busy { throw error }
        }
    }

    private static func backupPath(
        of store: String,
        withExtension ending: String
    ) throws(SQLError) -> String {
        if ending.isEmpty || ending.utf8.contains(UInt8(ascii: "/")) || ending.utf8.contains(0)
            || ending.lowercased().hasPrefix("migrating")
            || StoreFiles.sidecarEndings.contains(where: ending.lowercased().hasSuffix)
        {
            throw SQLError(
                .cannotOpen,
                "\"\(ending)\" cannot be the extension of a backup. The migration was not run. Use one such as bak"
            )
        }
        return "\(store).\(ending)"
    }
}

extension SQLiteStore {
    /// The progress of a staged migration.
    public struct Progress: Sendable, Hashable {
        /// The phases of the work, in the order of the cases.
        ///
        /// The share of each phase in ``fraction`` is a guess: SQLite copies pages about as fast in each
        /// phase, and nobody knows how long a migration takes.
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

        /// The pages of this phase that are done; 0 if it has none.
        public let completedPages: Int

        /// The pages of this phase; 0 if it has none or doesn't know yet.
        public let totalPages: Int

        /// The part of all phases that is done, from 0 to 1.
        ///
        /// It never falls in one call of `migrateStaged`, even if another process wrote and the store is
        /// copied again. A phase that isn't needed is skipped. The last value is 1. It is passed on when
        /// everything is done, and its answer changes nothing.
        public internal(set) var fraction: Double

        init(_ phase: Phase, _ completedPages: Int = 0, of totalPages: Int = 0) {
            self.phase = phase
            self.completedPages = completedPages
            self.totalPages = totalPages
            let done = totalPages > 0 ? Double(completedPages) / Double(totalPages) : 0
            fraction = phase.part.start + phase.part.length * done
        }
    }

    /// The answer of `progress:`, which says whether the staged migration continues.
    public enum Answer: Sendable, Hashable {
        /// The migration continues.
        case `continue`
        /// The migration ends here, and the store is as it was.
        case cancel
    }
}
