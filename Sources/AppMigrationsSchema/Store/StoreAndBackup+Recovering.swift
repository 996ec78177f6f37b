internal import AppMigrations
internal import AppMigrationsSQLite

// The steps of a recovery. If the process dies after any of them, the next call can continue.
extension StoreAndBackup {
    /// Makes the chosen file the store.
    ///
    /// - Returns: The new path of the other file; `nil` if there is no such file.
    func recover(
        keeping choice: InterruptedStoreCopy.Choice,
        traces: Traces,
        check: SQLiteStore.Check,
        lockTimeout: Duration
    ) throws(SQLError) -> String? {
        if choice == .backup {
            try checkBackup(traces, check: check, lockTimeout: lockTimeout)
            if traces.state == .both, !traces.hasLog(atNameOf: store) {
                try refuseUsed(store, lockTimeout: lockTimeout)
            }
        }
        // Remove the examined copies, which take space.
        try store.removeLeftovers()
        for (ending, path) in traces.strays {
            try move(path, to: backup.store + ending)
        }
        if let suffix { try removeSharedMemoryFile(store.store + "-shm" + suffix) }
        if choice == .store { return try setAside(backup, lockTimeout: lockTimeout) }
        try absorbLog(lockTimeout: lockTimeout)
        let kept = try setAside(store, lockTimeout: lockTimeout)
        // Remove the marker file of an earlier recovery. Otherwise `open` would treat the new store as that
        // of an interrupted recovery, and set it aside.
        try SQLError.ofFile(store.recoveryMarker, "The marker file of the recovery could not be removed") {
            try Platform.removeIfPresent($0)
        }
        for ending in StoreFiles.endings where try StoreFiles.status(store.store + ending) != nil {
            throw store.error(.busy, "Another connection has created \(store.store + ending)")
        }
        try move(backup.store, to: store.store)
        return kept
    }

    /// Throws if the backup, with its log, can't be the store.
    private func checkBackup(
        _ traces: Traces,
        check: SQLiteStore.Check,
        lockTimeout: Duration
    ) throws(SQLError) {
        try refuseUsed(backup, lockTimeout: lockTimeout)
        var files = backup
        if let (ending, path) = traces.strays.first {
            files = try makeScratchCopy(of: backup, log: path, ending: ending)
        }
        do throws(SQLError) {
            try StoreExamination(files: files, busyTimeout: lockTimeout).examine(check: check)
        } catch {
            throw error.with {
                $0.path = backup.store
                $0.message = "The backup can't become the store: \($0.message)"
                if $0.code == .damaged { $0.outcome = "Neither file was changed" }
            }
        }
    }

    /// Writes the backup's log into the backup, or rolls its journal back.
    private func absorbLog(lockTimeout: Duration) throws(SQLError) {
        let db = try SQLiteConnection.forOwnUse(
            path: backup.store,
            access: .writing,
            busyTimeout: lockTimeout
        )
        defer { db.close() }
        try db.query("PRAGMA synchronous = EXTRA")
        try db.query("PRAGMA fullfsync = ON")
        try db.requireSoleUse()
        try db.query("PRAGMA wal_checkpoint(TRUNCATE)")
        db.writeLogOnClose()
        try db.synchronizeFile()
        db.close()
        for ending in ["-journal", "-wal"]
        where try StoreFiles.hasContent(backup.store + ending, ending: ending) {
            throw store.error(.busy, "Another connection uses \(backup.store + ending)")
        }
        for ending in StoreFiles.sidecarEndings {
            // A `-shm` file holds no data, and the log and the journal have no content that SQLite would
            // apply.
            try SQLError.ofFile(
                backup.store + ending,
                "An empty file next to the backup could not be removed"
            ) {
                try Platform.removeIfPresent($0)
            }
        }
    }

    /// Sets a database aside, together with its log and its journal.
    ///
    /// - Returns: The new path; `nil` if there was nothing to rename.
    private func setAside(_ files: StoreFiles, lockTimeout: Duration) throws(SQLError) -> String? {
        if try !files.hasBytes { try removeSharedMemoryFile(files.store + "-shm") }
        var exists = false
        for ending in StoreFiles.endings where try StoreFiles.status(files.store + ending) != nil {
            exists = true
        }
        if !exists { return nil }
        if try files.hasBytes {
            do throws(SQLError) {
                // Rename the log before the database. The log still exists if SQLite could not write it into
                // the database when the connection closed.
                return try files.setAside(lockTimeout: lockTimeout, sidecarsFirst: true).path
            } catch {
                // No connection can use a file that SQLite can't read.
                if error.code != .damaged { throw error }
            }
        }
        return try files.moveAside(sidecarsFirst: true)
    }

    /// Removes a `-shm` file, which holds no data: SQLite creates it again.
    private func removeSharedMemoryFile(_ path: String) throws(SQLError) {
        try SQLError.ofFile(path, "The shared-memory file of a log could not be removed") {
            try Platform.removeIfPresent($0)
        }
    }

    /// Renames a file and syncs the folders, so that the rename survives a power failure.
    private func move(_ path: String, to new: String) throws(SQLError) {
        try SQLError.ofFile(path, "The file could not be renamed to \(new)") {
            try Platform.replace(new, with: $0)
            try Platform.synchronize(Platform.folder(of: new))
            if Platform.folder(of: new) != Platform.folder(of: $0) {
                try Platform.synchronize(Platform.folder(of: $0))
            }
        }
    }
}
