extension StagedMigration {
    private enum Outcome { case replaced, unchanged, overtaken }

    /// So often in a row another process has to commit in the very moment that the lock is free.
    private static var attemptLimit: Int { 10 }

    /// Writes the copy back into the store's file.
    func runInPlace(_ progress: Progress, _ body: Body) throws(SQLError) -> Bool {
        for _ in 0..<Self.attemptLimit {
            switch try attempt(progress, body) {
            case .replaced: return true
            case .unchanged: return false
            case .overtaken: try files.removeLeftovers()
            }
        }
        throw SQLError(
            .busy,
            "Other processes wrote to the store each time that the copy was to replace it"
        )
    }

    private func attempt(_ progress: Progress, _ body: Body) throws(SQLError) -> Outcome {
        let live = try openStore()
        defer { live.close() }
        // Until the copy is complete nobody else can write: not a row is lost, and no copy made for nothing.
        try live.query("BEGIN IMMEDIATE")
        let copy = try makeCopy(progress)
        defer { copy.close() }
        guard try migrate(copy, progress, body) else { return .unchanged }
        if backup != nil { try makeBackup(progress) }

        // "The destination connection must not be in a transaction" (sqlite3_backup_init): between these two
        // others can write. What they did shows once the backup has the lock again.
        try live.query("ROLLBACK")
        let version = try live.dataVersion()
        try whenUnlocked()
        let replacement = try SQLiteConnection.Backup(from: copy, to: live)
        defer { replacement.finish() }
        try replacement.lock()
        if try live.dataVersion() != version { return .overtaken }
        if let backup { try publishBackup(backup) }
        try run(replacement, .replacing, progress)
        return .replaced
    }

    private func makeCopy(_ progress: Progress) throws(SQLError) -> SQLiteConnection {
        let copy = try makeDatabase(files.copy, keepsOwner: false)
        do throws(SQLError) {
            try copyStore(to: copy, .copying, progress)
        } catch {
            copy.close()
            throw error
        }
        return copy
    }

    private func makeBackup(_ progress: Progress) throws(SQLError) {
        let backup = try makeDatabase(files.newBackup, keepsOwner: false)
        defer { backup.close() }
        try copyStore(to: backup, .backingUp, progress)
    }

    private func copyStore(
        to db: SQLiteConnection,
        _ phase: SQLiteStore.Progress.Phase,
        _ progress: Progress
    ) throws(SQLError) {
        // The connection that has the write lock cannot be a source (sqlite3_backup_step, SQLITE_BUSY).
        let reader = try SQLiteConnection(path: files.store, .writing, lockTimeout)
        defer { reader.close() }
        try run(SQLiteConnection.Backup(from: reader, to: db), phase, progress)
    }
}
