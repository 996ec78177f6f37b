extension StagedMigration {
    /// Renames the copy to the store.
    func runRenaming(_ progress: Progress, _ body: Body) throws(SQLError) -> Bool {
        let live = try openStore()
        defer { live.close() }
        try lockOut(live)
        let copy = try makeDatabase(files.copy, keepsOwner: true)
        defer { copy.close() }
        try run(SQLiteConnection.Backup(from: live, to: copy), .copying, progress)
        guard try migrate(copy, progress, body) else { return false }
        copy.close()
        try checkSidecars()
        if backup != nil { try report(SQLiteStore.Progress(.backingUp), progress) }
        try report(SQLiteStore.Progress(.replacing), progress)
        try renameCopy()
        try SQLError.ofFile(
            files.store,
            "The store was replaced, but after a power failure it may be the old one again"
        ) { () throws(Platform.Failure) in try Platform.synchronizeFolder(of: files.store) }
        return true
    }

    /// Takes a lock on the store that lets nobody else read or write, and keeps it until the connection closes.
    private func lockOut(_ live: SQLiteConnection) throws(SQLError) {
        // "The database connection does not release file-locks at the conclusion of each transaction", and
        // before the first access in WAL mode it means that nobody else can have the file open.
        try live.query("PRAGMA locking_mode = EXCLUSIVE")
        try live.query("BEGIN EXCLUSIVE")
        // Nothing was changed; to commit would write the first page of an empty file.
        try live.query("ROLLBACK")
        guard try live.query("PRAGMA journal_mode") == [["wal"]] else { return }
        let result = try live.query("PRAGMA wal_checkpoint(TRUNCATE)")
        if result.first?.first != 0 {
            throw SQLError(.busy, "The write-ahead log of the store could not be emptied")
        }
    }

    /// The last connection to the copy removes its sidecars, with all they hold moved to the file.
    private func checkSidecars() throws(SQLError) {
        for sidecar in StoreFiles.sidecars(of: files.copy) {
            let status = try SQLError.ofFile(sidecar, "The copy could not be looked at") {
                () throws(Platform.Failure) in try Platform.status(ofFile: sidecar)
            }
            if status == nil { continue }
            throw SQLError(
                .busy,
                "A connection to the copy is still open, or was when the migration returned: \(sidecar) is there"
            )
        }
    }

    private func renameCopy() throws(SQLError) {
        try removeSidecarsOfStore()
        if let backup { try linkBackup(backup) }
        try SQLError.ofFile(files.store, "The copy could not be renamed to the store") {
            () throws(Platform.Failure) in
            // The names first: a log of the old store would be replayed into the new one.
            try Platform.synchronizeFolder(of: files.store)
            try Platform.rename(files.copy, to: files.store)
        }
    }

    /// Removes what lies beside the store, which nobody else can have open and which holds nothing.
    private func removeSidecarsOfStore() throws(SQLError) {
        for sidecar in StoreFiles.sidecars(of: files.store) {
            let status = try SQLError.ofFile(sidecar, "A file beside the store could not be looked at") {
                () throws(Platform.Failure) in try Platform.status(ofFile: sidecar)
            }
            guard let status else { continue }
            if sidecar.hasSuffix("-wal"), status.size > 0 {
                var error = SQLError(.busy, "The write-ahead log of the store was written to meanwhile")
                error.path = sidecar
                throw error
            }
            try SQLError.ofFile(sidecar, "A file beside the store could not be removed") {
                () throws(Platform.Failure) in try Platform.removeFile(sidecar)
            }
        }
    }

    private func linkBackup(_ backup: String) throws(SQLError) {
        try SQLError.ofFile(backup, "The backup could not be made") { () throws(Platform.Failure) in
            try Platform.makeLink(files.newBackup, to: files.store)
        }
        try publishBackup(backup)
        // A rename of one name of a file to another one of the same file does nothing (POSIX, rename).
        try SQLError.ofFile(files.newBackup, "The second name of the backup could not be removed") {
            () throws(Platform.Failure) in try Platform.removeFile(files.newBackup)
        }
    }
}
