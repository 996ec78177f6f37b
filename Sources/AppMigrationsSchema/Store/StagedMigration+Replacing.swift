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
    func run(_ progress: Progress, _ body: Body) throws(SQLError) -> Outcome {
        if let backup, let status = try StoreFiles.status(backup), status.kind != .file {
            let message = "The backup can't be made: something else than a file has its name"
            throw SQLError(.fileFailure, message).with { $0.path = backup }
        }
        // SQLite would delete them with the first page of a new database.
        if let orphan = try files.orphan() { throw orphan }
        var last = SQLiteStore.Progress(.copying)
        // A further copy is needed when another process commits while the lock is free.
        for _ in 0..<10 {
            let outcome = try attempt(
                { told in
                    let highest = last.fraction
                    last = told
                    last.fraction = max(highest, told.fraction)
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
            // No answer can end anything any more.
            _ = progress(last)
            return outcome
        }
        throw SQLError(.busy, "Other processes wrote to the store each time that the copy was to replace it")
    }

    /// Makes one copy; `nil` where another process wrote to the store before the copy could replace it.
    private func attempt(_ progress: Progress, _ body: Body) throws(SQLError) -> Outcome? {
        let isThere = try files.hasBytes
        let live = try open(files.store, .making)
        defer { live.close() }
        // Until the copy is complete no other connection can write: no row is lost, and no copy is made for nothing.
        try live.query("BEGIN IMMEDIATE")
        // A store that is only being made has nothing to keep, and takes the place of no earlier backup.
        let hasTables = isThere ? try live.hasTables() : false
        let backup = hasTables ? backup : nil
        let copy = try copyStore(to: files.copy, .copying, progress)
        defer { copy.close() }
        guard let problems = try migrate(copy, progress, body) else { return Outcome(isReplaced: false) }
        try checkPageSize(of: copy, live)
        if backup != nil { try copyStore(to: files.newBackup, .backingUp, progress).close() }
        let schemaVersion = try live.query("PRAGMA schema_version")

        // "The destination connection must not be in a transaction" (sqlite3_backup_init): between these two
        // others can write. What they did shows once the backup has the lock again.
        try live.query("ROLLBACK")
        let version = try live.dataVersion()
        try whenUnlocked()
        let replacing = try SQLiteConnection.Backup(from: copy, to: live)
        defer { replacing.finish() }
        // Takes the write lock, for which it waits as long as the connection does, and copies nothing yet.
        _ = try replacing.step(0)
        if try live.dataVersion() != version { return nil }
        try report(SQLiteStore.Progress(.replacing), progress)
        while replacing.remainingPages > Self.pagesPerStep, try replacing.step(Self.pagesPerStep) {
            try report(replacing.progress(of: .replacing), progress)
        }
        try finish(replacing, backup, schemaVersion)
        return Outcome(isReplaced: true, virtualTableProblems: problems)
    }

    /// Puts the backup in its place, writes the last pages and commits.
    ///
    /// The backup has to be there before the commit. Where that fails, the backup is a second copy of the store.
    private func finish(
        _ replacing: SQLiteConnection.Backup,
        _ backup: String?,
        _ schemaVersion: [[SQLValue]]
    ) throws(SQLError) {
        do throws(SQLError) {
            if let backup { try publishBackup(backup) }
            while try replacing.step(Self.pagesPerStep) {}
        } catch {
            replacing.finish()
            // A lock that can't be given back is one that comes too late. A backup gives its destination the schema
            // version after the destination's own, so that every connection reads the schema again.
            let now: [[SQLValue]]
            do throws(SQLError) {
                let store = try SQLiteConnection(path: files.store, .writing, lockTimeout)
                now = try store.query("PRAGMA schema_version")
            } catch let failure {
                throw error.adding(failure, of: "finding out whether the store was replaced")
            }
            throw now == schemaVersion ? error : error.following("The store was replaced")
        }
    }

    /// Puts the new backup in the place of an earlier one.
    ///
    /// SQLite would play the earlier one's log and journal into the new one, so they go first.
    private func publishBackup(_ backup: String) throws(SQLError) {
        try SQLError.ofFile(backup, "The backup could not be put in its place") { _ in
            for ending in StoreFiles.sidecarEndings { try Platform.removeIfThere(backup + ending) }
            try Platform.replace(backup, with: files.newBackup)
            try Platform.synchronize(Platform.folder(of: backup))
        }
    }
}
