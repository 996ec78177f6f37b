/// A copy of the protected files as they were before a migration.
///
/// It is the folder `<name>.migrations.snapshot`, and is made in this order:
/// 1. The file `list` with the paths. It is written under another name, locked, and renamed into place.
/// 2. A look at the lists of other managers, by ``ProtectedPaths/refuseConflict()``.
/// 3. A numbered folder for each path. In it, `item` is the copy, with `item-wal` and so on for the files
///    that SQLite keeps next to a database. If nothing exists at a path, the folder has an empty file
///    `absent` instead. The last file made is `entries-<count>`.
///
/// The snapshot is complete and synced to disk before the intent is saved, and is removed only after a state
/// that no longer asks for it was saved. So a snapshot that a state asks for is complete, whenever a process
/// died. ``PathRestore`` says how it is used.
final class Snapshot {
    /// The ends of the names of a database and of the files that SQLite keeps next to it.
    ///
    /// They hold changes that aren't in the database yet (sqlite.org, "Temporary Files Used By SQLite"). A
    /// database that is restored next to the wrong ones would be damaged.
    static let companions = ["", "-wal", "-shm", "-journal"]

    let protected: ProtectedPaths
    private let folder: String
    private let lock: FileLock

    /// The descriptor of the list, which is locked from before the list is in its place until the closure has
    /// ended; `nil` after that.
    ///
    /// The state's lock can't say that a closure is running, because a process that restores files holds the
    /// same lock. And if the file of the state's lock is removed while a closure runs, the lock of the list
    /// still keeps other processes away. Nobody else ever locks the list exclusively, so a process that only
    /// reads it is never mistaken for the closure's.
    private var listLock: Int32?

    /// Writes and locks the list, durably.
    ///
    /// Nothing is copied yet.
    ///
    /// - Throws: ``MigrationError``, or a ``SystemCallError`` with its path. The list doesn't exist then.
    init(of protected: ProtectedPaths, under lock: FileLock) throws {
        self.protected = protected
        self.lock = lock
        let location = protected.location
        // No state asks for the copies of an earlier attempt. If they can't be removed they are moved aside
        // or marked, so that they don't keep every later migration from running.
        if let leftover = try SavedFiles(in: location, of: protected.version) {
            do {
                _ = try leftover.discard()
            } catch {
                _ = try leftover.keep(asOf: Platform.now)
            }
        }
        folder = try location.nextSnapshot()
        try Platform.makeDirectory(folder)
        do {
            try Self.refuseForeign(folder)
            if try FileStatus(ofEntry: folder).permissions & 0o077 != 0 {
                throw SystemCallError.foreign(folder)
            }
            let list = try protected.list(forSnapshotIn: folder)
            listLock = try Platform.save(list.text, to: folder + "/list", in: folder, isLocked: true)
            try Platform.synchronize(folder)
            try Platform.synchronize(location.directory)
        } catch {
            remove()
            throw error
        }
    }

    /// The paths that are protected together with a path: for a file, also those of a database's companions,
    /// whether they exist or not.
    static func parts(of path: String) throws(SystemCallError) -> [String] {
        try Platform.status(path)?.kind == .directory ? [path] : companions.map { path + $0 }
    }

    /// Copies the listed paths, durably.
    ///
    /// If it throws, the caller calls ``remove()``.
    ///
    /// Cancelling the task ends the copying. The handler is called about a hundred times, however many files
    /// there are.
    func copy(reportingTo report: @escaping CopyReport) throws {
        let treesOfPaths = try protected.paths.map { path in
            try Self.parts(of: path).map { part in
                try FileTree(at: part) { entry in try protected.requireCopyable(entry, in: path) }
            }
        }
        let total = treesOfPaths.joined().reduce(0) { $0 + $1.cost }
        var done = 0.0
        var lastPercent = -1
        let copier = FileCopier()
        for (index, trees) in treesOfPaths.enumerated() {
            let place = "\(folder)/\(index)"
            try Platform.makeDirectory(place)
            for (companion, tree) in zip(Self.companions, trees) {
                if tree.entries.isEmpty {
                    try Platform.makeMark(place + "/absent" + companion)
                    continue
                }
                try tree.copy(to: place + "/item" + companion, by: copier) { [protected] path, cost in
                    try protected.refuseCancelled()
                    let percent = Int(min(done / total, 1) * 100)
                    done += cost
                    if percent == lastPercent { return }
                    lastPercent = percent
                    report(Double(percent) / 100, "copying \(path)")
                }
            }
            // Only a folder has no companions.
            if trees.count == 1 {
                try Platform.makeDirectory(place + "/model")
                try Platform.copyAttributes(ofFolder: protected.paths[index], to: place + "/model")
            }
            let count = trees.reduce(0) { $0 + $1.entries.count }
            try Platform.makeMark("\(place)/entries-\(count)")
        }
        try FileTree.synchronize([folder], by: lock.flush)
        try protected.refuseCancelled()
    }

    /// Syncs the closure's work to disk: the items at the paths, the companions of databases, and the folders
    /// above.
    func synchronizeWork() throws(SystemCallError) {
        let parts = protected.paths.flatMap { path in Self.companions.map { path + $0 } }
        try FileTree.synchronize(parts, by: lock.flush)
        for path in protected.paths {
            try FileTree.synchronizeFolders(from: FilePaths.parent(path), upTo: protected.stateFolder)
        }
    }

    /// Unlocks the list, because the closure has ended.
    ///
    /// After this point a new start may restore the files, because no closure uses them any more.
    func endListLock() {
        if let listLock { Platform.unlock(listLock) }
        listLock = nil
    }

    /// Removes the snapshot, for which no state asks.
    ///
    /// If it can't be removed now, the next holder of the state's lock removes it.
    func remove() {
        do {
            try Platform.removeTree(folder)
        } catch {
            // The error that the caller throws says why nothing was run.
        }
        endListLock()
    }

    /// Refuses a snapshot's folder that another user made: its list and copies could overwrite any file of
    /// this user.
    ///
    /// If a closure gives all of the app's files to another user, it gives the snapshot to that user too.
    static func refuseForeign(_ folder: String) throws(SystemCallError) {
        let status = try FileStatus(ofEntry: folder)
        if status.kind != .directory || !Platform.isOwn(status) { throw SystemCallError.foreign(folder) }
    }
}

/// Gets how much is copied, from 0 to 1, and in words what is being copied.
typealias CopyReport = (_ fraction: Double, _ note: String) -> Void
