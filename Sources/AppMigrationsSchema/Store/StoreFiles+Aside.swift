internal import AppMigrations
internal import AppMigrationsSQLite

/// Moves a damaged store out of the way, only under the lock.
extension StoreFiles {
    private var prefix: String { store + "-corrupt-" }

    /// True if a copy is there, a recovery that has not ended, or the lock of a process that is at it or died.
    func hasLeftovers() throws(SQLError) -> Bool {
        for path in [copy, newBackup, recovery, lock] where try Self.status(path) != nil { return true }
        return false
    }

    var hasBytes: Bool {
        get throws(SQLError) { try Self.status(store)?.size ?? 0 > 0 }
    }

    /// Looks at the store again, and renames it where it is damaged.
    ///
    /// - Returns: The store that was set aside, `nil` where nothing is damaged.
    func setAsideIfDamaged(
        _ check: SQLiteStore.Check,
        _ busyTimeout: Duration,
        toRecover: Bool = false
    ) throws(SQLError) -> SQLiteStore.SetAside? {
        do throws(SQLError) {
            _ = try StoreLook(files: self, busyTimeout: busyTimeout).isUsable(check)
            return nil
        } catch {
            if error.code != .damaged { throw error }
            let wasThere = try Self.status(store) != nil
            let path = try moveAside(toRecover: toRecover)
            // An earlier start renamed the store, and died before it renamed what lay beside it.
            let isOfEarlier = wasThere ? false : try Self.status(path) != nil
            return SQLiteStore.SetAside(path: path, storePath: store, error: isOfEarlier ? nil : error)
        }
    }

    /// Renames a sound store that no other connection has in use.
    func setAside(_ lockTimeout: Duration, sidecarsFirst: Bool = false) throws(SQLError)
        -> SQLiteStore.SetAside
    {
        let db = try SQLiteConnection(path: store, .writing, lockTimeout)
        // "The database connection does not release file-locks at the conclusion of each transaction", and
        // before the first access in WAL mode it means that no other process can have the file open.
        try db.query("PRAGMA locking_mode = EXCLUSIVE")
        try db.query("BEGIN EXCLUSIVE")
        try db.query("ROLLBACK")
        // The connection removes the log when it closes, by a name that could be another store's afterwards.
        db.close()
        return SQLiteStore.SetAside(
            path: try moveAside(sidecarsFirst: sidecarsFirst),
            storePath: store,
            error: nil
        )
    }

    /// Renames the store and all beside it, and tells the new path.
    ///
    /// The store goes first: a log or journal without its store is of no use, a store without them may look whole and lack
    /// what was committed. `sidecarsFirst` is for a store that another file is to replace: its log must not be left at a name
    /// where it would be played into that file.
    func moveAside(toRecover: Bool = false, sidecarsFirst: Bool = false) throws(SQLError) -> String {
        let path = try toRecover ? pathToRecover() : freePath()
        for ending in sidecarsFirst ? Self.endings.reversed() : Self.endings {
            try SQLError.ofFile(store + ending, "The damaged store could not be renamed") {
                if try Platform.status($0) != nil { try Platform.replace(path + ending, with: $0) }
            }
        }
        try SQLError.ofFile(store, "The damaged store was renamed, which may not survive a power failure") {
            try Platform.synchronize(Platform.folder(of: $0))
        }
        return path
    }

    /// The store that an earlier start set aside and died before another one took its place.
    func unrecovered() throws(SQLError) -> SQLiteStore.SetAside? {
        guard try !hasBytes, let path = try recoveryPath() else { return nil }
        for ending in Self.endings where try Self.status(path + ending) != nil {
            return SQLiteStore.SetAside(path: path, storePath: store, error: nil)
        }
        return nil
    }

    /// Sets aside what a recovery that has not ended put in the place of the store: half of a store may look whole.
    func setAsideUnfinished() throws(SQLError) {
        guard let path = try recoveryPath(), try Self.status(path) != nil, try Self.status(store) != nil
        else { return }
        _ = try moveAside()
    }

    /// Syncs the store to disk that a recovery has put in its place.
    ///
    /// The app may have copied a backup, and a copy is not on the disk yet. If the power failed after the mark of the recovery
    /// was removed, the next start would find a file without a byte, and nothing to recover.
    func synchronizeStore() throws(SQLError) {
        if let status = try Self.status(store), status.kind == .file {
            try SQLiteConnection(path: store, .writing, .zero).synchronizeFile()
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

    /// The name that a start which recovers gives the store: it is written down before anything is renamed, so that a start after
    /// a death goes on with it.
    private func pathToRecover() throws(SQLError) -> String {
        if let path = try recoveryPath(), try isFree(path, onlyWhereNeeded: true) { return path }
        let path = try freePath()
        try SQLError.ofFile(recovery, "The mark of a recovery could not be made") {
            try Platform.removeIfThere($0)
            try Platform.makeFile($0, holding: path.dropFirst(prefix.count) + "\n")
            try Platform.synchronize(Platform.folder(of: $0))
        }
        return path
    }

    /// The name that a recovery has written down; `nil` where none is under way, or it died before anything was renamed.
    private func recoveryPath() throws(SQLError) -> String? {
        let text = String(decoding: try Self.head(recovery, 100), as: UTF8.self)
        return text.hasSuffix("\n") && !text.contains("/") ? prefix + text.dropLast() : nil
    }

    /// A name that nothing has, neither for the store nor beside it.
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

    /// True if nothing is in the way of renaming the store and what lies beside it.
    private func isFree(_ path: String, onlyWhereNeeded: Bool = false) throws(SQLError) -> Bool {
        for ending in Self.endings where try Self.status(path + ending) != nil {
            if !onlyWhereNeeded { return false }
            if try Self.status(store + ending) != nil { return false }
        }
        return true
    }
}
