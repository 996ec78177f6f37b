internal import AppMigrations
internal import AppMigrationsSQLite

// The steps of a recovery. Each one leaves a state from which the next call goes on.
extension StoreAndBackup {
    /// Makes the chosen file the store.
    ///
    /// - Returns: The path of the file that isn't the store, `nil` if there is none.
    func recover(
        _ choice: InterruptedStoreCopy.Choice,
        _ traces: Traces,
        check: SQLiteStore.Check,
        lockTimeout: Duration
    ) throws(SQLError) -> String? {
        if choice == .backup {
            try checkBackup(traces, check: check, lockTimeout: lockTimeout)
            if traces.state == .both, !traces.hasLogOf(store) {
                try refuseUsed(store, lockTimeout: lockTimeout)
            }
        }
        // The copies that were examined take space.
        try store.removeLeftovers()
        for (ending, path) in traces.strays {
            try move(path, to: backup.store + ending)
        }
        if let suffix { try removeIndex(store.store + "-shm" + suffix) }
        if choice == .store { return try setAside(backup, lockTimeout: lockTimeout) }
        try absorbLog(lockTimeout: lockTimeout)
        let kept = try setAside(store, lockTimeout: lockTimeout)
        // Without this, `open` would set the new store aside as one that an interrupted recovery has left.
        try SQLError.ofFile(store.recovery, "The mark of a recovery could not be removed") {
            try Platform.removeIfThere($0)
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
        if let (ending, path) = traces.strays.first { files = try scratch(of: backup, with: path, ending) }
        do throws(SQLError) {
            _ = try StoreLook(files: files, busyTimeout: lockTimeout).isUsable(check)
        } catch {
            throw error.with {
                $0.path = backup.store
                $0.message = "The backup can't become the store: \($0.message)"
                if $0.code == .damaged { $0.outcome = "Neither file was changed" }
            }
        }
    }

    /// Writes the backup's log into it, or rolls its journal back.
    private func absorbLog(lockTimeout: Duration) throws(SQLError) {
        let db = try SQLiteConnection(path: backup.store, access: .writing, busyTimeout: lockTimeout)
        defer { db.close() }
        try db.query("PRAGMA synchronous = EXTRA")
        try db.query("PRAGMA fullfsync = ON")
        try db.requireSoleUse()
        try db.query("PRAGMA wal_checkpoint(TRUNCATE)")
        db.keepLogOnClose(false)
        try db.synchronizeFile()
        db.close()
        for ending in ["-journal", "-wal"]
        where try StoreFiles.hasContent(backup.store + ending, ending: ending) {
            throw store.error(.busy, "Another connection uses \(backup.store + ending)")
        }
        for ending in StoreFiles.sidecarEndings {
            // They have no content: an index of a log, and a log or a journal that SQLite would begin anew.
            try SQLError.ofFile(
                backup.store + ending,
                "An empty file next to the backup could not be removed"
            ) {
                try Platform.removeIfThere($0)
            }
        }
    }

    /// Renames a file and all next to it.
    ///
    /// - Returns: The new path; `nil` if there was nothing to rename.
    private func setAside(_ files: StoreFiles, lockTimeout: Duration) throws(SQLError) -> String? {
        var exists = false
        if try !files.hasBytes { try removeIndex(files.store + "-shm") }
        for ending in StoreFiles.endings where try StoreFiles.status(files.store + ending) != nil {
            exists = true
        }
        if !exists { return nil }
        if try files.hasBytes {
            do throws(SQLError) {
                // A log stays if it could not be written into its file at the end.
                return try files.setAside(lockTimeout, sidecarsFirst: true).path
            } catch {
                // No connection can use a file that SQLite can't read.
                if error.code != .damaged { throw error }
            }
        }
        return try files.moveAside(sidecarsFirst: true)
    }

    /// Removes the index of a log, which holds nothing of its own: SQLite makes another one.
    private func removeIndex(_ path: String) throws(SQLError) {
        try SQLError.ofFile(path, "The index of a log could not be removed") {
            try Platform.removeIfThere($0)
        }
    }

    /// Renames a file so that it has the new name after a power failure, too.
    private func move(_ path: String, to new: String) throws(SQLError) {
        try SQLError.ofFile(path, "It could not be renamed to \(new)") {
            try Platform.replace(new, with: $0)
            try Platform.synchronize(Platform.folder(of: new))
            if Platform.folder(of: new) != Platform.folder(of: $0) {
                try Platform.synchronize(Platform.folder(of: $0))
            }
        }
    }
}
