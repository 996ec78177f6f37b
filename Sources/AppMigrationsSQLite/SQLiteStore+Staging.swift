extension SQLiteStore {
    /// Migrates a copy of the store, and swaps the two once the copy is complete and checked.
    ///
    /// SQLite's own transactions make a migration all or nothing already. A copy is for what cannot be in one
    /// (`VACUUM`, a pragma, several commits), for a check before anyone sees the result, and for a backup.
    /// Whatever goes wrong, and whenever the process dies, the store is wholly the old one or wholly the
    /// new one.
    ///
    /// **Others who write**, with ``Swap/inPlace``, wait for as long as it takes, or get SQLite's busy error; nothing
    /// that they have committed is lost. The write lock has to be given back for a moment before the copy is
    /// written into the store. If another process commits something just then, the copy is made anew, and
    /// **`body` runs once more**, on the new copy. ``Swap/rename`` is for a store that nobody else opens.
    ///
    /// Where `body` wrote nothing, nothing is checked or swapped, and a backup from an earlier time stays.
    /// Where there is no store yet, the copy is empty.
    ///
    /// - Parameters:
    ///   - swap: How the copy takes the store's place.
    ///   - backupExtension: With `bak`, the old store stays as `<path>.bak`, in place of an earlier
    ///     one of that name.
    ///   - check: What the copy is checked for when `body` has returned, unless for nothing. Rows that refer
    ///     to none are an error where they did before in fewer places.
    ///   - lockTimeout: How long to wait for other writers and for another starter that does the same.
    ///   - progress: Called with every thousand pages or so and before each phase; its answer can end it all.
    ///   - body: The migration. The connection is the copy's; keep neither it nor the copy's path.
    /// - Returns: Whether the store was replaced.
    /// - Throws: ``SQLError``, after which the store is the old one unless the message says that it was
    ///   replaced: ``SQLError/Code/busy``, ``SQLError/Code/cancelled`` when the task was cancelled,
    ///   ``SQLError/Code/stopped`` when `progress` said so, ``SQLError/Code/migrationFailed`` with the error
    ///   of `body`, ``SQLError/Code/damaged`` and ``SQLError/Code/foreignKeyViolation`` from the check,
    ///   ``SQLError/Code/fileFailure``, and what SQLite says.
    @discardableResult
    public func migrateStaged(
        swap: Swap = .inPlace,
        backupExtension: String? = nil,
        check: Check = .full,
        lockTimeout: Duration = .seconds(60),
        progress: (Progress) -> Answer = { _ in .goOn },
        body: (SQLiteConnection) throws -> Void
    ) throws(SQLError) -> Bool {
        let files = try StoreFiles(of: path)
        let backup = try backupExtension.map { ending throws(SQLError) in
            try Self.backupPath(of: files.store, ending)
        }
        let migration = StagedMigration(files: files, backup: backup, check: check, lockTimeout: lockTimeout)
        return try StagingLock.holding(files, wait: lockTimeout) { () throws(SQLError) in
            switch swap {
            case .inPlace: try migration.runInPlace(progress, body)
            case .rename: try migration.runRenaming(progress, body)
            }
        }
    }

    private static func backupPath(of store: String, _ ending: String) throws(SQLError) -> String {
        if ending.isEmpty || ending.contains("/") || ending.utf8.contains(0)
            || ending.lowercased().hasPrefix("migrating")
        {
            throw SQLError(
                .cannotOpen,
                "\"\(ending)\" cannot be the extension of a backup. Nothing was run. Use one such as bak"
            )
        }
        return "\(store).\(ending)"
    }
}
