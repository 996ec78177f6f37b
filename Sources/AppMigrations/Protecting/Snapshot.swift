/// A copy of the protected files as they were before a migration.
///
/// It is the folder `<name>.migrations.snapshot`, and is created in this order:
/// 1. The file `list` with the paths. It is written under another name, locked, and renamed into place.
/// 2. The caller then checks the lists of other managers, with ``ProtectedPaths/refuseConflict()``.
/// 3. A numbered folder is created for each path. In it, `item` is the copy, and `item-wal` and so on are
///    copies of the files that SQLite keeps next to a database. If nothing exists at the path, the folder
///    contains an empty file `absent` instead. For a protected folder, it also contains `model`, which has
///    the folder's attributes. The file `entries-<count>`, with the number of copied entries in its name, is
///    created last.
///
/// The snapshot is complete and synced to disk before the intent to migrate is saved in the state. It is
/// removed only after a state that doesn't need it was saved. So if a state needs a snapshot, the snapshot is
/// complete, no matter when a process was killed. ``PathRestore`` says how the copies are used.
final class Snapshot {
    /// The suffixes of a database's files: the empty suffix for the database itself, and those of the files
    /// that SQLite keeps next to it.
    ///
    /// These files can hold data that isn't in the database yet (sqlite.org, "Temporary Files Used By
    /// SQLite"). A database that is restored next to the wrong ones would be damaged.
    static let companions = ["", "-wal", "-shm", "-journal"]

    let protected: ProtectedPaths
    private let folder: String
    private let lock: FileLock

    /// The descriptor of the list; `nil` after the closure has ended.
    ///
    /// The list is locked before it is renamed into place, and stays locked until the closure has ended.
    ///
    /// The state's lock doesn't show whether a closure is running, because a process that restores files
    /// holds the same lock. And if the state's lock file is removed while a closure runs, the lock of the
    /// list still keeps other processes from restoring the files. No other process ever locks the list
    /// exclusively, so a process that only reads it is never mistaken for the one that runs the closure.
    private var listLock: Int32?

    /// Writes the list, locks it, and syncs it to disk.
    ///
    /// Nothing is copied yet.
    ///
    /// - Throws: ``MigrationError``, or a ``SystemCallError`` whose path is set. In that case, the list
    ///   doesn't exist.
    init(of protected: ProtectedPaths, under lock: FileLock) throws {
        self.protected = protected
        self.lock = lock
        let location = protected.location
        // The copies of an earlier attempt are not needed by any state. If they can't be removed, they are
        // moved aside or marked. Otherwise they would prevent every later migration.
        if let leftover = try SavedFiles(in: location, of: protected.version) {
            do {
                _ = try leftover.discard()
            } catch {
                _ = try leftover.keep(asOf: Platform.now)
            }
        }
        folder = try location.snapshotFolder()
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

    /// The paths that are protected together with a path.
    ///
    /// For everything but a folder, these include the paths of a database's companions, whether they exist or
    /// not.
    static func parts(of path: String) throws(SystemCallError) -> [String] {
        try Platform.status(path)?.kind == .directory ? [path] : companions.map { path + $0 }
    }

    /// Copies the listed paths and syncs the copies to disk.
    ///
    /// If this throws, the caller must call ``remove()``.
    ///
    /// If the task is cancelled, copying stops. `report` is called about a hundred times, however many files
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
            // Every path but a folder has companions, so one tree means a folder.
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

    /// Syncs to disk what the closure wrote.
    ///
    /// That includes the items at the paths, the companions of databases, and the folders above them.
    func synchronizeWork() throws(SystemCallError) {
        let parts = protected.paths.flatMap { path in Self.companions.map { path + $0 } }
        try FileTree.synchronize(parts, by: lock.flush)
        for path in protected.paths {
            try FileTree.synchronizeFolders(from: FilePaths.parent(path), upTo: protected.stateFolder)
        }
    }

    /// Unlocks the list, because the closure has ended.
    ///
    /// After this, another process may restore the files, because the closure no longer uses them.
    func endListLock() {
        if let listLock { Platform.unlock(listLock) }
        listLock = nil
    }

    /// Removes the snapshot, which no state needs.
    ///
    /// If it can't be removed now, the next holder of the state's lock removes it.
    func remove() {
        do {
            try Platform.removeTree(folder)
        } catch {
            // The caller throws the original error, which says why nothing was run.
        }
        endListLock()
    }

    /// Throws an error if another user owns a snapshot's folder.
    ///
    /// That user could have written its list and its copies, and a restore could then overwrite any file of
    /// this user.
    ///
    /// If a closure makes another user the owner of all the app's files, that user also owns the snapshot.
    /// Then the protected files can't be restored.
    static func refuseForeign(_ folder: String) throws(SystemCallError) {
        let status = try FileStatus(ofEntry: folder)
        if status.kind != .directory || !Platform.isOwn(status) { throw SystemCallError.foreign(folder) }
    }
}

/// Receives how much is copied, from 0 to 1, and a text that says what is being copied.
typealias CopyReport = (_ fraction: Double, _ note: String) -> Void
