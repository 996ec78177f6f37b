internal import AppMigrations
internal import AppMigrationsSQLite

/// A store and the backup that copying by hand has left next to it.
///
/// Everything is done under the store's lock.
struct StoreAndBackup {
    /// What a copy has left.
    struct Traces {
        var state: InterruptedStoreCopy.State
        /// The logs and journals of the backup that have a wrong name, by the ending that they should have.
        var strays: [String: String] = [:]
        /// The path of a log that can belong to either file.
        var unclearLog: String?

        /// True if a log or a journal of the backup has the name that it would have if it were the store's.
        func hasLogOf(_ store: StoreFiles) -> Bool {
            strays.contains { $0.value == store.store + $0.key }
        }
    }

    let store: StoreFiles
    let backup: StoreFiles
    /// The end of the backup's path, if the rest of it is the store's.
    let suffix: String?

    /// - Returns: `nil` if there is no backup, or one without a byte.
    init?(path: String, backupPath: String) throws(SQLError) {
        store = try StoreFiles(of: path)
        backup = try StoreFiles(of: backupPath)
        if store.store == backup.store {
            throw store.error(.cannotOpen, "The backup has the path of the store. Nothing was changed")
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

    /// Finds the state and the logs of the backup; an unclear log belongs to the file in `log`.
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
            // SQLite would play the backup's log into the store.
            let files = traces.hasLogOf(store) ? try scratch(of: store) : store
            _ = try StoreLook(files: files, busyTimeout: lockTimeout).isUsable(check, reporting: nil) {
                db throws(SQLError) in
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
            ? "the store is damaged or half written" : "the rows of either can be the right ones"
        return store.error(.undecidedCopy, "\(backup.store) exists next to the store, and \(reason)")
    }

    func undecidedLogError(_ path: String) -> SQLError {
        store.error(.undecidedLog, "\(path) can belong to the store or to its backup \(backup.store)")
    }

    /// Throws if a connection uses the file, as far as SQLite can tell, and changes nothing.
    func refuseUsed(_ files: StoreFiles, lockTimeout: Duration) throws(SQLError) {
        do throws(SQLError) {
            let db = try SQLiteConnection(path: files.store, access: .writing, busyTimeout: lockTimeout)
            defer { db.close() }
            try db.requireSoleUse()
        } catch {
            if error.code != .damaged { throw error }
        }
    }
}
