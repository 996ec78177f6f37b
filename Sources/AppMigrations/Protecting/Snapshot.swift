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
/// The snapshot is complete and synced to disk before the state says that files may have to be restored. It
/// is removed only after a state was saved that doesn't say so. So if the state says that files have to be
/// restored, the snapshot is complete, no matter when a process was killed. ``PathRestore`` says how the
/// copies are used.
final class Snapshot {
    /// The suffixes of a database's files: the empty suffix for the database itself, and those of the files
    /// that SQLite keeps next to it.
    ///
    /// These files can hold data that isn't in the database yet (sqlite.org, "Temporary Files Used By
    /// SQLite"). A database that is restored next to the files of another database would be damaged.
    static let companions = ["", "-wal", "-shm", "-journal"]

    /// The name of an empty file in the snapshot, which saves that the option `keepsReplacedFiles` was set.
    ///
    /// The option of the manager that runs the migration counts. The option has to be saved, because another
    /// process may restore the files after a crash, with other options.
    static var keepRequestMarker: String { "keep-replaced-files" }

    let protected: ProtectedPaths
    private let folder: String
    private let lock: FileLock

    /// The descriptor of the list; `nil` after the closure has ended.
    ///
    /// The list is locked before it is renamed into place, and stays locked until the closure has ended.
    ///
    /// The state's lock doesn't show whether a closure is running, because a process that restores files
    /// holds the same lock. And if the state's lock file is removed while a closure runs, the lock of the
    /// list still keeps other processes from restoring the files. Only the process that runs the closure
    /// locks the list exclusively. So a process that only reads the list isn't mistaken for it.
    private var listLock: Int32?

    /// Writes the list of the protected paths, locks it, and syncs it to disk.
    ///
    /// Before this, the caller removes the copies of an earlier attempt or moves them aside, with
    /// ``LockedState/makeRoomForSnapshot(of:)``.
    ///
    /// ``copy(reportingTo:)`` makes the copies. If `keepsReplaced` is true, this also saves in the snapshot
    /// that a restore after a crash has to keep the files that it replaces.
    ///
    /// - Throws: ``MigrationError``, or a ``SystemCallError`` whose path is set. In that case, no list was
    ///   created.
    init(
        of protected: ProtectedPaths,
        under lock: FileLock,
        keepingReplaced keepsReplaced: Bool
    ) throws {
        self.protected = protected
        self.lock = lock
        let location = protected.location
        folder = try location.snapshotFolder()
        try Platform.makeDirectory(folder)
        do {
            try Self.refuseForeign(folder)
            if try FileStatus(ofEntry: folder).permissions & 0o077 != 0 {
                throw SystemCallError.foreign(folder)
            }
            let list = try protected.list(forSnapshotIn: folder)
            listLock = try Platform.save(list.text, to: folder + "/list", in: folder, isLocked: true)
            if keepsReplaced { try Platform.makeMark(folder + "/" + Self.keepRequestMarker) }
            try Platform.synchronize(folder)
            try Platform.synchronize(location.directory)
        } catch {
            remove()
            throw error
        }
    }

    /// The paths that are protected together with a path.
    ///
    /// If the path isn't a folder, these include the paths of a database's companions, even if nothing exists
    /// at them.
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
            // A file has companions, so a path with only one tree is a folder.
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

    /// Syncs the closure's work to disk: the items at the protected paths, the companions of databases, and
    /// the folders above them.
    func synchronizeWork() throws(SystemCallError) {
        let parts = protected.paths.flatMap { path in Self.companions.map { path + $0 } }
        try FileTree.synchronize(parts, by: lock.flush)
        try FileTree.synchronizeFolders(
            from: protected.paths.map(FilePaths.parent),
            upTo: protected.stateFolder
        )
    }

    /// Unlocks the list after the closure has ended, so that another process may restore the files.
    func releaseListLock() {
        if let listLock { Platform.unlock(listLock) }
        listLock = nil
    }

    /// Removes the snapshot, to which no state refers.
    ///
    /// If it can't be removed now, the next process that takes the state's lock removes it.
    func remove() {
        do {
            try Platform.removeTree(folder)
        } catch {
            // Ignore this error. The snapshot is removed because of an earlier error, which the caller
            // throws.
        }
        releaseListLock()
    }

    /// Throws an error if another user owns a snapshot's folder.
    ///
    /// That user could have written the list and the copies in it, and a restore could then overwrite any
    /// file of this user. If a closure makes another user the owner of all the app's files, that user also
    /// owns the snapshot, so the protected files can't be restored.
    static func refuseForeign(_ folder: String) throws(SystemCallError) {
        let status = try FileStatus(ofEntry: folder)
        if status.kind != .directory || !Platform.isOwn(status) { throw SystemCallError.foreign(folder) }
    }
}

/// Receives how much is copied, from 0 to 1, and a text that says what is being copied.
typealias CopyReport = (_ fraction: Double, _ note: String) -> Void
