internal import AppMigrations
internal import AppMigrationsSQLite

extension StagedMigration {
    /// What became of the store.
    struct Outcome {
        /// False if the migration wrote nothing.
        let isReplaced: Bool
        var virtualTableProblems = [SQLiteStore.VirtualTableProblem]()
    }

    /// Migrates a copy and writes it back into the store's file, unless the migration wrote nothing.
    func run(reportingTo progress: Progress, _ body: Body) throws(SQLError) -> Outcome {
        if let backup, let status = try StoreFiles.status(backup), status.kind != .file {
            let message = "The backup can't be made: its path exists, but is not a file"
            throw SQLError(.fileFailure, message).with { $0.path = backup }
        }
        // A store may be missing although its log or its journal still exists. SQLite would delete that file
        // when it creates the new database.
        if let error = try files.orphanedLogError() { throw error }
        var last = SQLiteStore.Progress(.copying)
        // Start over with another copy, at most ten times, if another process commits while the store isn't
        // locked.
        for _ in 0..<10 {
            let outcome = try attempt(
                reportingTo: { current in
                    let highest = last.fraction
                    last = current
                    last.fraction = max(highest, current.fraction)
                    return progress(last)
                },
                body
            )
            guard let outcome else {
                try files.removeLeftovers()
                continue
            }
            last = SQLiteStore.Progress(last.phase, last.totalPages, of: last.totalPages)
            last.fraction = 1
            // Everything is done, so the answer is ignored.
            _ = progress(last)
            return outcome
        }
        throw SQLError(
            .busy,
            "In each of ten attempts, other processes wrote to the store before the copy could replace it"
        )
    }

    /// Makes one copy, migrates it and replaces the store.
    ///
    /// - Returns: `nil` if another process wrote to the store before the copy could replace it.
    private func attempt(reportingTo progress: Progress, _ body: Body) throws(SQLError) -> Outcome? {
        let hadContent = try files.hasBytes
        let live = try open(files.store, for: .creating)
        defer { live.close() }
        // No other connection can write until the copy is complete. So no row is lost, and no copy is wasted.
        try live.query("BEGIN IMMEDIATE")
        // A new store has no content yet, so no backup of it may replace an earlier one.
        let hasTables = hadContent ? try live.hasTables() : false
        let backupToMake = hasTables ? backup : nil
        // The copy and the backup of a store that was cut have whole pages, so no later check would find
        // that.
        if hadContent { try live.requirePages(live.number("PRAGMA page_count"), of: files) }
        let copy = try copyStore(to: files.copy, phase: .copying, reportingTo: progress)
        defer { copy.close() }
        guard let problems = try migrate(copy, reportingTo: progress, body) else {
            return Outcome(isReplaced: false)
        }
        try checkPageSize(of: copy, against: live)
        if let backupToMake {
            try copyStore(to: files.newBackup, phase: .backingUp, reportingTo: progress).close()
            // Only a sound store may replace an earlier backup.
            if check != .off, try StoreFiles.status(backupToMake) != nil {
                try checkNewBackup(reportingTo: progress)
            }
        }
        let schemaVersion = try live.query("PRAGMA schema_version")

        // "The destination connection must not be in a transaction" (sqlite3_backup_init). So other processes
        // can write from here until the copying takes the lock again. The data version shows whether they
        // did.
        try live.query("ROLLBACK")
        let version = try live.dataVersion()
        try whenUnlocked()
        let replacing = try SQLiteConnection.PageCopy(from: copy, to: live)
        defer { replacing.finish() }
        // A step of no pages only takes the write lock, and waits for it as long as the connection does.
        _ = try replacing.step(0)
        if try live.dataVersion() != version { return nil }
        try report(SQLiteStore.Progress(.replacing), to: progress)
        while replacing.remainingPages > Self.pagesPerStep, try replacing.step(Self.pagesPerStep) {
            try report(replacing.progress(of: .replacing), to: progress)
        }
        try commit(replacing, publishing: backupToMake, schemaVersionBefore: schemaVersion)
        return Outcome(isReplaced: true, virtualTableProblems: problems)
    }

    /// Publishes the backup, writes the last pages and commits.
    ///
    /// The backup is put in place before the commit. If the commit then fails, the backup is only a duplicate
    /// of the store, which does no harm.
    private func commit(
        _ replacing: SQLiteConnection.PageCopy,
        publishing backup: String?,
        schemaVersionBefore: [[SQLValue]]
    ) throws(SQLError) {
        do throws(SQLError) {
            if let backup { try publishBackup(backup) }
            while try replacing.step(Self.pagesPerStep) {}
        } catch {
            replacing.finish()
            // If only the lock can't be released, the commit was done. The schema version shows it: when
            // SQLite commits, it increases the schema version of the destination, so that every connection
            // reads the schema again.
            let now: [[SQLValue]]
            do throws(SQLError) {
                let store = try SQLiteConnection.forOwnUse(
                    path: files.store,
                    access: .writing,
                    busyTimeout: lockTimeout
                )
                now = try store.query("PRAGMA schema_version")
            } catch let failure {
                throw error.adding(failure, of: "finding out whether the store was replaced")
            }
            throw now == schemaVersionBefore ? error : error.afterSuccess("The store was replaced")
        }
    }

    /// Replaces an earlier backup with the new one.
    ///
    /// The log and the journal of the earlier backup are deleted first, because SQLite would apply them to
    /// the new one.
    private func publishBackup(_ backup: String) throws(SQLError) {
        try SQLError.ofFile(backup, "The backup could not be put in its place") { _ in
            for ending in StoreFiles.sidecarEndings { try Platform.removeIfPresent(backup + ending) }
            try Platform.replace(backup, with: files.newBackup)
            try Platform.synchronize(Platform.folder(of: backup))
        }
    }
}
