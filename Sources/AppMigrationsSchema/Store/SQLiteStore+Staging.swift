public import AppMigrationsSQLite

extension SQLiteStore {
    /// Migrates a copy of the store, and writes it back once it is complete and checked.
    ///
    /// SQLite's own transactions make a migration all or nothing already. A copy is for what cannot be in one
    /// (`VACUUM`, a pragma, several commits), for a check before anyone sees the result, and for a backup.
    /// Whatever goes wrong, and whenever the process dies, the store is wholly the old one or wholly the
    /// new one.
    ///
    /// **Other writers** wait for as long as it takes, or get SQLite's busy error; nothing that they have
    /// committed is lost. The write lock has to be given back for a moment before the copy is
    /// written into the store. If another process commits something just then, the copy is made again, and
    /// **`body` runs once more**, on the new copy.
    ///
    /// Where `body` wrote nothing, nothing is checked or replaced, and a backup from an earlier time stays. Writes
    /// through another connection to the copy count, once they are committed. Where there is no store yet, the copy
    /// is empty.
    ///
    /// - Parameters:
    ///   - backupExtension: With `bak`, the old store stays as `<resolvedPath>.bak`, in place of an earlier
    ///     one of that name. That one stays where `body` fails or writes nothing, and where the store had no table of the
    ///     app. See ``resolvedPath``.
    ///   - check: How thoroughly the copy is read when `body` has returned. Only what the store did not have before is an
    ///     error: damage, rows that break a constraint, rows that refer to none.
    ///   - lockTimeout: How long to wait for other writers and for another process that does the same.
    ///   - progress: Called with some thousand pages, seldom in a long statement, and before each phase; its answer can end it all.
    ///   - reporting: Called after the store was replaced, for each virtual table that the check complains about or
    ///     can't check. Nothing else comes of it. Without the closure, virtual tables aren't checked.
    ///   - body: The migration. The connection is the copy's; keep neither it nor the copy's path,
    ///     `<resolvedPath>.migrating`. Whatever it writes replaces the store and the backup, a `VACUUM` as well. So
    ///     it asks the copy whether there is something to do: another process may have done it meanwhile.
    /// - Returns: True if the store was replaced.
    /// - Throws: `SQLError`, after which the store is the old one, where there was none a file without a byte:
    ///   `SQLError.Code.busy`, `SQLError.Code.alreadyInTransaction` for a transaction that `body` left open,
    ///   `SQLError.Code.cancelled` when the task was cancelled, `SQLError.Code.stopped` when `progress` said so,
    ///   `SQLError.Code.migrationFailed` with the error of `body`, or that error itself where it is an
    ///   `SQLError`, `SQLError.Code.damaged`, `SQLError.Code.constraintViolation` and
    ///   `SQLError.Code.foreignKeyViolation` from the check, `SQLError.Code.damaged` also where the store is missing
    ///   and its log is not, `SQLError.Code.unreachable`, `SQLError.Code.fileFailure`, `SQLError.Code.cannotOpen` for a path or an
    ///   extension that can't be one, and what SQLite says. `SQLError.Code.cleanupFailed` alone comes after the store was replaced.
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
            try Self.backupPath(of: files.store, ending)
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
            try migration.run(progress, body)
        }
        if let reporting { outcome.virtualTableProblems.forEach(reporting) }
        return outcome.isReplaced
    }

    /// Removes what a process left beside the store that died in
    /// ``migrateStaged(backupExtension:check:lockTimeout:progress:reporting:body:)``.
    ///
    /// For a start that finds nothing to migrate: each call of `migrateStaged` and `setAside` does it as well,
    /// and so does `open`. Where nothing was left, it looks for some names and no more. Where another process works on
    /// the store right now, that process removes it.
    ///
    /// - Throws: `SQLError`: `SQLError.Code.fileFailure`, `SQLError.Code.unreachable`, `SQLError.Code.cannotOpen` for what is no path.
    public func removeLeftovers() throws(SQLError) {
        let files = try StoreFiles(of: path)
        if try !files.hasLeftovers() { return }
        do throws(SQLError) { try files.holdingLock(wait: .zero, done: { _ in nil }) {} } catch {
            if error.code != .busy { throw error }
        }
    }

    private static func backupPath(of store: String, _ ending: String) throws(SQLError) -> String {
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
    /// How far a staged migration is.
    public struct Progress: Sendable, Hashable {
        /// The phases of the work, in the order of the cases.
        ///
        /// The part of the whole that each of them has in ``fraction`` is a guess: SQLite copies pages about as fast in each
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

        /// The pages of this phase that are done, 0 where it has none.
        public let completedPages: Int

        /// The pages of this phase, 0 where it has none or does not know yet.
        public let totalPages: Int

        /// How much of all phases is done, from 0 to 1.
        ///
        /// It never falls in one call of `migrateStaged`, also where another process wrote and the copy is made again. A phase
        /// that is left out is passed over. It ends at 1: the last call comes when all is done, and its answer changes nothing.
        public internal(set) var fraction: Double

        init(_ phase: Phase, _ completedPages: Int = 0, of totalPages: Int = 0) {
            (self.phase, self.completedPages, self.totalPages) = (phase, completedPages, totalPages)
            let done = totalPages > 0 ? Double(completedPages) / Double(totalPages) : 0
            fraction = phase.part.start + phase.part.length * done
        }
    }

    /// The answer of `progress:`: the staged migration goes on, or ends.
    public enum Answer: Sendable, Hashable {
        /// The migration continues.
        case `continue`
        /// It ends here, and the store is as it was.
        case cancel
    }
}
