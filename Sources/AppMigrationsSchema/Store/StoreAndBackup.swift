internal import AppMigrations
internal import AppMigrationsSQLite

/// A store and the backup that an interrupted copy by the app's own code has left next to it.
///
/// Everything is done under the store's lock.
struct StoreAndBackup {
    /// The traces that a copy has left.
    struct Traces {
        var state: InterruptedStoreCopy.State
        /// The paths of logs and journals that belong to the backup but don't have its name, by their
        /// endings.
        var strays: [String: String] = [:]
        /// The path of a log that can belong to either file.
        var unclearLog: String?

        /// True if one of the backup's logs or journals has the store's name.
        func hasLog(atNameOf store: StoreFiles) -> Bool {
            strays.contains { $0.value == store.store + $0.key }
        }
    }

    let store: StoreFiles
    let backup: StoreFiles
    /// The part that the backup's path adds to the store's path, such as `_bak`; `nil` if the backup's path
    /// doesn't begin with the store's path.
    let suffix: String?

    /// - Returns: `nil` if the backup is missing or empty.
    init?(path: String, backupPath: String) throws(SQLError) {
        store = try StoreFiles(of: path)
        backup = try StoreFiles(of: backupPath)
        if store.store == backup.store {
            throw store.error(.cannotOpen, "The backup has the path of the store. Nothing was changed")
        }
        if store.isReserved(backup.store) {
            throw store.error(
                .cannotOpen,
                "The backup \(backup.store) has a name that SQLite or this library uses for a temporary file of the store."
                    + " Nothing was changed. Rename the backup"
            )
        }
        suffix = backupPath.hasPrefix(path) ? String(backupPath.dropFirst(path.count)) : nil
        guard let status = try StoreFiles.status(backup.store), status.size > 0 else { return nil }
        if status.kind != .file {
            throw SQLError(.unreachable, "The backup is not a file").with { $0.path = backup.store }
        }
        let folder = try StoreFiles.status(Platform.folder(of: store.store))
        if let folder, folder.identity.device != status.identity.device {
            throw store.error(
                .cannotOpen,
                "The backup \(backup.store) is in another file system, so it can't be renamed to the store. Nothing was"
                    + " changed. Copy it to the store's folder"
            )
        }
    }

    /// Finds the state, and the logs that belong to the backup.
    ///
    /// If a log could belong to either file, it is treated as the log of the file in `log`.
    func traces(
        log: InterruptedStoreCopy.Choice?,
        check: SQLiteStore.Check,
        lockTimeout: Duration
    ) throws(SQLError) -> Traces {
        // Another process may have recovered the store while this one waited for the lock.
        if try !backup.hasBytes { return Traces(state: .none) }
        var traces = Traces(state: .backupOnly)
        for ending in ["-journal", "-wal"] {
            guard let stray = try stray(ending, check: check, lockTimeout: lockTimeout) else { continue }
            switch stray.owner ?? log {
            case .store: continue
            case .backup: traces.strays[ending] = stray.path
            case nil: return Traces(state: .unclearLog, unclearLog: stray.path)
            }
        }
        guard try store.hasBytes else { return traces }
        var hasTables = false
        do throws(SQLError) {
            // If the backup's log has the store's name, SQLite would apply it to the store. So examine a copy
            // of the store.
            let files = traces.hasLog(atNameOf: store) ? try makeScratchCopy(of: store) : store
            let examination = StoreExamination(files: files, busyTimeout: lockTimeout)
            try examination.examine(check: check, reporting: nil) { db throws(SQLError) in
                hasTables = try db.hasTables()
            }
            if hasTables { traces.state = .both }
        } catch {
            if error.code != .damaged { throw error }
            traces.state = .damagedStore
        }
        return traces
    }

    func undecidedCopyError(_ state: InterruptedStoreCopy.State) -> SQLError {
        let reason =
            state == .damagedStore
            ? "the store is damaged or half written" : "either may have the right rows"
        return store.error(.undecidedCopy, "\(backup.store) exists next to the store, and \(reason)")
    }

    func undecidedLogError(_ path: String) -> SQLError {
        store.error(.undecidedLog, "\(path) can belong to the store or to its backup \(backup.store)")
    }

    /// Throws if another connection uses the file, as far as SQLite can tell.
    ///
    /// A damaged file passes, because no connection can use it.
    func refuseUsed(_ files: StoreFiles, lockTimeout: Duration) throws(SQLError) {
        do throws(SQLError) {
            let db = try SQLiteConnection.forOwnUse(
                path: files.store,
                access: .writing,
                busyTimeout: lockTimeout
            )
            defer { db.close() }
            try db.requireSoleUse()
        } catch {
            if error.code != .damaged { throw error }
        }
    }
}
