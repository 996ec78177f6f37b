internal import AppMigrations
internal import AppMigrationsSQLite

/// The backup of an earlier time, while a new one takes its place.
///
/// It comes back when the store is not replaced after all, with the log and the journal that another connection may
/// have left beside it. SQLite would play these into the new backup.
///
/// A process that dies leaves either the earlier backup, here or at its place, or both, and then the new one
/// is complete. So the file itself goes first and comes back last.
struct EarlierBackup {
    /// The path of the backup.
    let path: String

    static let ending = "-earlier"
    var aside: String { path + Self.ending }

    private static let message = "The earlier backup could not be moved"

    /// What tells the file from another one of its name; `nil` where there is none.
    var identity: FileIdentity? {
        get throws(SQLError) {
            try SQLError.ofFile(path, "The backup could not be looked at") {
                () throws(SystemCallError) in try Platform.status(ofFile: path)?.identity
            }
        }
    }

    /// Whether a process left one out of its place.
    var isAside: Bool {
        get throws(SQLError) {
            try SQLError.ofFile(aside, "The earlier backup could not be looked for") {
                () throws(SystemCallError) in try Platform.isThere(aside)
            }
        }
    }

    /// Finishes what a process left that died, and refuses what is no backup.
    func settle() throws(SQLError) {
        let status = try SQLError.ofFile(path, "The backup can't be made") {
            () throws(SystemCallError) in try Platform.status(ofFile: path)
        }
        if let status, status.kind != .file {
            var error = SQLError(.fileFailure, "The backup can't be made: what has its name is no file")
            error.path = path
            throw error
        }
        try SQLError.ofFile(aside, Self.message) { () throws(SystemCallError) in
            guard try Platform.isThere(aside) else { return }
            try Platform.isThere(path) ? remove() : putBack()
        }
    }

    /// Moves it out of the way; `false` where there is none.
    ///
    /// The log of a backup that is missing holds what was in it, and is set aside like a store's.
    func moveAside() throws(SQLError) -> Bool {
        let orphans = try StoreFiles(of: path)
        let orphan = try SQLError.ofFile(path, Self.message) {
            () throws(SystemCallError) in try orphans.orphan()
        }
        if orphan != nil { _ = try StoreAside(orphans).moveAside() }
        return try SQLError.ofFile(path, Self.message) { () throws(SystemCallError) in
            let isThere = try Platform.isThere(path)
            if isThere { try Platform.replace(aside, with: path) }
            for ending in StoreFiles.sidecarEndings where try Platform.isThere(path + ending) {
                if isThere {
                    try Platform.replace(aside + ending, with: path + ending)
                } else {
                    try Platform.removeIfThere(path + ending)
                }
            }
            return isThere
        }
    }

    /// Comes back to its place, where a new backup may be that was at `new` before.
    func comeBack(from new: String) throws(SQLError) {
        try SQLError.ofFile(path, Self.message) { () throws(SystemCallError) in
            if try !Platform.isThere(new) { try Platform.replace(new, with: path) }
            if try Platform.isThere(aside) { try putBack() }
            try Platform.synchronizeFolder(of: path)
        }
    }

    /// Removes it for good.
    func discard() throws(SQLError) {
        try SQLError.ofFile(aside, "The earlier backup could not be removed") {
            () throws(SystemCallError) in try remove()
        }
    }

    private func putBack() throws(SystemCallError) {
        for ending in StoreFiles.sidecarEndings where try Platform.isThere(aside + ending) {
            try Platform.replace(path + ending, with: aside + ending)
        }
        try Platform.replace(path, with: aside)
    }

    private func remove() throws(SystemCallError) {
        for ending in StoreFiles.sidecarEndings + [""] { try Platform.removeIfThere(aside + ending) }
    }
}
