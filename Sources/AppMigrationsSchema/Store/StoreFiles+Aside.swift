internal import AppMigrations
internal import AppMigrationsSQLite

/// Sets a damaged store aside.
///
/// The caller holds the lock.
extension StoreFiles {
    private var prefix: String { store + "-corrupt-" }

    /// True if there is a copy, the marker file of a recovery that has not ended, or the lock file of a
    /// process that is working or has crashed.
    func hasLeftovers() throws(SQLError) -> Bool {
        for path in [copy, newBackup, recoveryMarker, lock] where try Self.status(path) != nil { return true }
        return false
    }

    var hasBytes: Bool {
        get throws(SQLError) { try Self.status(store)?.size ?? 0 > 0 }
    }

    /// Examines the store again, and renames it if it is damaged.
    ///
    /// - Returns: The store that was set aside; `nil` if it isn't damaged.
    func setAsideIfDamaged(
        check: SQLiteStore.Check,
        busyTimeout: Duration,
        writingMarker writesMarker: Bool = false
    ) throws(SQLError) -> SQLiteStore.SetAside? {
        do throws(SQLError) {
            try StoreExamination(files: self, busyTimeout: busyTimeout).examine(check: check)
            return nil
        } catch {
            if error.code != .damaged { throw error }
            let wasThere = try Self.status(store) != nil
            let path = try moveAside(writingMarker: writesMarker)
            // If there was no store, but there is one at the new path, an earlier start renamed it and
            // crashed before it renamed the files next to it.
            let wasSetAsideEarlier = wasThere ? false : try Self.status(path) != nil
            return SQLiteStore.SetAside(
                path: path,
                storePath: store,
                error: wasSetAsideEarlier ? nil : error
            )
        }
    }

    /// Renames a sound store; throws if another connection uses it, as far as SQLite can tell.
    func setAside(
        lockTimeout: Duration,
        sidecarsFirst: Bool = false
    ) throws(SQLError) -> SQLiteStore.SetAside {
        let db = try SQLiteConnection.forOwnUse(path: store, access: .writing, busyTimeout: lockTimeout)
        try db.requireSoleUse()
        // Close the connection before the rename. When it closes, it writes the log into the store and
        // deletes the log by its name. After the rename, another store's log could have that name.
        db.writeLogOnClose()
        db.close()
        return SQLiteStore.SetAside(
            path: try moveAside(sidecarsFirst: sidecarsFirst),
            storePath: store,
            error: nil
        )
    }

    /// Renames the store and the files next to it, and returns the new path.
    ///
    /// The store is renamed before its log and its journal. If the process crashes in between, a log without
    /// its store is left, which does no harm. In the other order, a store could be left that looks complete
    /// but lacks committed data.
    ///
    /// `sidecarsFirst` reverses the order, for a store that another file will replace. The log must not keep
    /// a name under which SQLite would apply it to that file.
    ///
    /// If `writingMarker` is true, the new path is saved in the marker file first, so that the next start can
    /// continue after a crash.
    func moveAside(
        writingMarker writesMarker: Bool = false,
        sidecarsFirst: Bool = false
    ) throws(SQLError) -> String {
        let path = try writesMarker ? pathSavedInMarker() : freePath()
        for ending in sidecarsFirst ? Self.endings.reversed() : Self.endings {
            try SQLError.ofFile(store + ending, "The file could not be renamed") {
                if try Platform.status($0) != nil { try Platform.replace(path + ending, with: $0) }
            }
        }
        try SQLError.ofFile(store, "The store was renamed, but the rename may not survive a power failure") {
            try Platform.synchronize(Platform.folder(of: $0))
        }
        return path
    }

    /// The store that an earlier start set aside; `nil` if there is none, or if another store has already
    /// taken its place.
    func storeOfUnfinishedRecovery() throws(SQLError) -> SQLiteStore.SetAside? {
        guard try !hasBytes, let path = try pathInMarker() else { return nil }
        for ending in Self.endings where try Self.status(path + ending) != nil {
            return SQLiteStore.SetAside(path: path, storePath: store, error: nil)
        }
        return nil
    }

    /// Sets aside the file that an unfinished recovery put in the place of the store.
    ///
    /// Such a file may look complete without being so.
    func setAsideUnfinishedStore() throws(SQLError) {
        guard let path = try pathInMarker(), try Self.status(path) != nil, try Self.status(store) != nil
        else { return }
        _ = try moveAside()
    }

    /// Syncs a recovered store to the disk.
    ///
    /// The app may have copied a backup to the store's path, and the copy may not be on the disk yet. If the
    /// power failed after the marker file was removed, the next start would find an empty file and nothing to
    /// recover.
    func synchronizeStore() throws(SQLError) {
        if let status = try Self.status(store), status.kind == .file {
            try SQLiteConnection.forOwnUse(path: store, access: .writing, busyTimeout: .zero)
                .synchronizeFile()
        }
        for ending in ["-journal", "-wal"] where try Self.status(store + ending) != nil {
            try SQLError.ofFile(store + ending, "The recovered store could not be synced to disk") {
                try Platform.synchronize($0)
            }
        }
        try SQLError.ofFile(store, "The recovered store could not be synced to disk") {
            try Platform.synchronize(Platform.folder(of: $0))
        }
    }

    /// Chooses the path to which a recovery renames the store, saves it in the marker file, and returns it.
    ///
    /// If an earlier start crashed after it saved a path, that path is used again if it is still free.
    private func pathSavedInMarker() throws(SQLError) -> String {
        if let path = try pathInMarker(), try isFree(path, continuing: true) { return path }
        let path = try freePath()
        try SQLError.ofFile(recoveryMarker, "The marker file of the recovery could not be made") {
            try Platform.removeIfPresent($0)
            try Platform.makeFile($0, holding: path.dropFirst(prefix.count) + "\n")
            try Platform.synchronize(Platform.folder(of: $0))
        }
        return path
    }

    /// The path in the marker file.
    ///
    /// - Returns: `nil` if there is no marker file, or if a crash left it incomplete. In that case nothing
    ///   was renamed yet.
    private func pathInMarker() throws(SQLError) -> String? {
        let text = String(decoding: try Self.head(ofFile: recoveryMarker, count: 100), as: UTF8.self)
        return text.hasSuffix("\n") && !text.contains("/") ? prefix + text.dropLast() : nil
    }

    /// A path at which neither a store nor one of its other files exists.
    private func freePath() throws(SQLError) -> String {
        // In UTC, as in `20261121T035428Z`.
        let time = prefix + Timestamp.text(Platform.now).filter { $0 != "-" && $0 != ":" }
        var path = time
        var number = 1
        while try !isFree(path) {
            number += 1
            path = "\(time)-\(number)"
        }
        return path
    }

    /// True if the store and the files next to it can be renamed to a path.
    ///
    /// If `isContinued` is true, the path is that of an earlier start, which may have crashed after it
    /// renamed some of the files. Then a file at the new path is no obstacle, unless a file with the same
    /// ending still exists at the old path.
    private func isFree(_ path: String, continuing isContinued: Bool = false) throws(SQLError) -> Bool {
        for ending in Self.endings where try Self.status(path + ending) != nil {
            if !isContinued { return false }
            if try Self.status(store + ending) != nil { return false }
        }
        return true
    }
}
