/// Moves a damaged store out of the way.
///
/// Only under the lock.
struct StoreAside {
    let files: StoreFiles

    init(_ files: StoreFiles) { self.files = files }

    private var prefix: String { files.store + "-corrupt-" }

    /// Whether there is something to do about the store, or left of a start that died while it did it.
    func isNeeded(_ found: StoreInspection) throws(SQLError) -> Bool {
        switch found {
        // Unreachable is also a store that another starter is renaming.
        case .damaged, .unreachable: return true
        case .none:
            if try earlier() != nil { return true }
            return try hasLeftovers()
        case .usable: return try hasLeftovers()
        case .newer, .busy: return false
        }
    }

    private func hasLeftovers() throws(SQLError) -> Bool {
        try SQLError.ofFile(files.copy, "A left-over copy could not be looked for") {
            () throws(Platform.Failure) in
            for path in [files.copy, files.newBackup, files.lock]
            where try Platform.status(ofFile: path) != nil {
                return true
            }
            return false
        }
    }

    /// Looks at the store again, and renames it where it is damaged.
    ///
    /// - Returns: What was set aside, `nil` where nothing is damaged.
    func setAsideIfDamaged(
        _ check: SQLiteStore.Check,
        _ busyTimeout: Duration
    ) throws(SQLError) -> SQLiteStore.SetAside? {
        switch try StoreInspection.of(files, check: check, busyTimeout: busyTimeout) {
        case .usable: return nil
        case .none:
            if try earlier() != nil { try moveOrphans() }
            return nil
        case .newer(let error), .busy(let error), .unreachable(let error): throw error
        case .damaged(let error):
            let path = try freePath()
            // The store first: a log or journal without its store is of no use to anybody, a store without
            // them may look whole and lack what was committed.
            for ending in [""] + StoreFiles.sidecarEndings {
                try move(files.store + ending, to: path + ending)
            }
            try synchronize()
            return SQLiteStore.SetAside(path: path, error: error)
        }
    }

    /// Moves what a start left that died between the store and the files beside it.
    ///
    /// SQLite would delete them with the next database at this path, or replay the log into a backup put there.
    private func moveOrphans() throws(SQLError) {
        if try size() != nil { return }
        let path = try freePath()
        for ending in StoreFiles.sidecarEndings { try move(files.store + ending, to: path + ending) }
        try synchronize()
    }

    /// The last store that an earlier start set aside, where none has taken its place.
    func earlierIfNothingIsThere() throws(SQLError) -> SQLiteStore.SetAside? {
        (try size() ?? 0) == 0 ? try earlier() : nil
    }

    /// The bytes of the store, `nil` where it is not there.
    private func size() throws(SQLError) -> Int64? {
        try SQLError.ofFile(files.store, "The store could not be looked at") {
            () throws(Platform.Failure) in try Platform.status(ofFile: files.store)?.size
        }
    }

    private func earlier() throws(SQLError) -> SQLiteStore.SetAside? {
        let folder = Platform.folderPath(of: files.store)
        let slash = prefix.lastIndex(of: "/").map { prefix.index(after: $0) } ?? prefix.startIndex
        let beginning = prefix[slash...]
        let names = try SQLError.ofFile(folder, "The folder of the store could not be read") {
            () throws(Platform.Failure) in
            try Platform.status(ofFile: folder) == nil ? [] : Platform.names(inFolder: folder)
        }
        let newest = names.filter { name in
            name.hasPrefix(beginning) && !StoreFiles.sidecarEndings.contains { name.hasSuffix($0) }
        }
        .max()
        return newest.map {
            SQLiteStore.SetAside(path: String(prefix[..<slash]) + $0, error: nil)
        }
    }

    /// A name that nothing has, neither for the store nor beside it.
    private func freePath() throws(SQLError) -> String {
        let time = prefix + Platform.universalTime()
        var path = time
        var number = 1
        while try isTaken(path) {
            number += 1
            path = "\(time)-\(number)"
        }
        return path
    }

    private func isTaken(_ path: String) throws(SQLError) -> Bool {
        try SQLError.ofFile(path, "A name for the damaged store could not be found") {
            () throws(Platform.Failure) in
            for path in [path] + StoreFiles.sidecars(of: path)
            where try Platform.status(ofFile: path) != nil {
                return true
            }
            return false
        }
    }

    private func move(_ path: String, to new: String) throws(SQLError) {
        try SQLError.ofFile(path, "The damaged store could not be renamed") { () throws(Platform.Failure) in
            if try Platform.status(ofFile: path) != nil { try Platform.rename(path, to: new) }
        }
    }

    private func synchronize() throws(SQLError) {
        try SQLError.ofFile(
            files.store,
            "The damaged store was renamed, which may not survive a power failure"
        ) {
            () throws(Platform.Failure) in try Platform.synchronizeFolder(of: files.store)
        }
    }
}
