internal import AppMigrations
internal import AppMigrationsSQLite

/// Moves a damaged store out of the way.
///
/// Only under the lock.
struct StoreAside {
    let files: StoreFiles

    init(_ files: StoreFiles) { self.files = files }

    private var prefix: String { files.store + "-corrupt-" }

    /// True if there is something to do about the store, or left of a start that died while it did it.
    func isNeeded(_ found: StoreInspection) throws(SQLError) -> Bool {
        switch found {
        // Unreachable is also a store that another process is renaming.
        case .damaged, .unreachable: return true
        case .none, .usable: return try hasLeftovers()
        case .newer, .busy: return false
        }
    }

    /// True if a copy is there, a recovery that has not ended, or the lock of a process that is at it or died.
    func hasLeftovers() throws(SQLError) -> Bool {
        try SQLError.ofFile(files.copy, "A left-over copy could not be looked for") { _ in
            try [files.copy, files.newBackup, files.recovery, files.lock].contains {
                try Platform.status($0) != nil
            }
        }
    }

    /// Looks at the store again, and renames it where it is damaged.
    ///
    /// - Returns: The store that was set aside, `nil` where nothing is damaged.
    func setAsideIfDamaged(
        _ check: SQLiteStore.Check,
        _ busyTimeout: Duration,
        toRecover: Bool = false
    ) throws(SQLError) -> SQLiteStore.SetAside? {
        switch try StoreInspection.of(files, check: check, busyTimeout: busyTimeout) {
        case .none, .usable: return nil
        case .newer(let error), .busy(let error), .unreachable(let error): throw error
        case .damaged(let error):
            let wasThere = try isThere(files.store)
            let path = try moveAside(toRecover: toRecover)
            // An earlier start renamed the store, and died before it renamed what lay beside it.
            let isOfEarlier = wasThere ? false : try isThere(path)
            return SQLiteStore.SetAside(
                path: path,
                storePath: files.store,
                error: isOfEarlier ? nil : error
            )
        }
    }

    /// Renames a sound store that no other connection has in use.
    func setAside(_ lockTimeout: Duration) throws(SQLError) -> SQLiteStore.SetAside {
        let db = try SQLiteConnection(path: files.store, .writing, lockTimeout)
        defer { db.close() }
        // "The database connection does not release file-locks at the conclusion of each transaction", and
        // before the first access in WAL mode it means that no other process can have the file open.
        try db.query("PRAGMA locking_mode = EXCLUSIVE")
        try db.query("BEGIN EXCLUSIVE")
        try db.query("ROLLBACK")
        // The connection removes the log when it closes, by a name that could be another store's afterwards.
        db.close()
        return SQLiteStore.SetAside(path: try moveAside(), storePath: files.store, error: nil)
    }

    /// Renames the store and all beside it, and tells the new path.
    func moveAside(toRecover: Bool = false) throws(SQLError) -> String {
        let path = try toRecover ? pathToRecover() : freePath()
        // The store first: a log or journal without its store is of no use, a store without
        // them may look whole and lack what was committed.
        for ending in StoreFiles.endings {
            try SQLError.ofFile(files.store + ending, "The damaged store could not be renamed") {
                if try Platform.status($0) != nil { try Platform.replace(path + ending, with: $0) }
            }
        }
        try SQLError.ofFile(
            files.store,
            "The damaged store was renamed, which may not survive a power failure"
        ) { try Platform.synchronizeFolder(of: $0) }
        return path
    }

    var isThere: Bool {
        get throws(SQLError) {
            try SQLError.ofFile(files.store, "The store could not be looked at") {
                try Platform.status($0)?.size ?? 0 > 0
            }
        }
    }

    private func isThere(_ path: String) throws(SQLError) -> Bool {
        try SQLError.ofFile(path, "What was set aside could not be looked at") {
            try Platform.status($0) != nil
        }
    }

    /// The store that an earlier start set aside and died before another one took its place.
    func unrecovered() throws(SQLError) -> SQLiteStore.SetAside? {
        if try isThere { return nil }
        guard let path = try recovery() else { return nil }
        for ending in StoreFiles.endings where try isThere(path + ending) {
            return SQLiteStore.SetAside(path: path, storePath: files.store, error: nil)
        }
        return nil
    }

    /// Sets aside what a recovery that has not ended put in the place of the store: half of a store may look whole.
    func setAsideUnfinished() throws(SQLError) {
        guard let path = try recovery(), try isThere(path), try isThere(files.store) else { return }
        _ = try moveAside()
    }

    /// The name that a start which recovers gives the store: it is written down before anything is renamed, so that a start after
    /// a death goes on with it.
    private func pathToRecover() throws(SQLError) -> String {
        if let path = try recovery(), try isFree(path, onlyWhereNeeded: true) { return path }
        let path = try freePath()
        try SQLError.ofFile(files.recovery, "The mark of a recovery could not be made") {
            try Platform.removeIfThere($0)
            try Platform.makeFile($0, holding: path.dropFirst(prefix.count) + "\n")
            try Platform.synchronizeFolder(of: $0)
        }
        return path
    }

    /// The name that a recovery has written down; `nil` where none is under way, or it died before anything was renamed.
    private func recovery() throws(SQLError) -> String? {
        try SQLError.ofFile(files.recovery, "The mark of a recovery could not be read") {
            let text = String(decoding: try Platform.head(ofFile: $0, 100) ?? [], as: UTF8.self)
            return text.hasSuffix("\n") && !text.contains("/") ? prefix + text.dropLast() : nil
        }
    }

    /// Notes that the store is no longer to be recovered from what was set aside: it may be removed one day, and begun anew.
    func endRecovery() throws(SQLError) {
        try SQLError.ofFile(files.recovery, "The mark of a recovery could not be removed") {
            try Platform.removeIfThere($0)
        }
    }

    /// A name that nothing has, neither for the store nor beside it.
    private func freePath() throws(SQLError) -> String {
        let time = prefix + Platform.universalTime()
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
        try SQLError.ofFile(path, "A name for the damaged store could not be found") { path in
            try !StoreFiles.endings.contains { ending in
                let isNeeded = try !onlyWhereNeeded || Platform.status(files.store + ending) != nil
                return try isNeeded && Platform.status(path + ending) != nil
            }
        }
    }
}
