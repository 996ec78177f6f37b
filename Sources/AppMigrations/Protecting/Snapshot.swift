/// A copy of what `protecting:` names, as it was before a migration: `<name>.migrations.snapshot` with the list of the paths
/// and a numbered folder for each.
///
/// ```text
/// take     the list, made under another name, locked and renamed into place; a look at the other managers' lists; then for
///          each path <i>/item, with what SQLite keeps beside it, or <i>/absent; last <i>/entries-<count>
/// restore  each goes back, as ``PutBack`` says
/// ```
///
/// It is complete and synced to disk before the intent is saved, and it goes only after a state that no longer protects is.
/// So a snapshot that a state asks for is whole, whatever process died when.
final class Snapshot {
    /// SQLite keeps what isn't in the database yet in files beside it (sqlite.org, "Temporary Files Used By SQLite"): a
    /// database put back beside the wrong ones would be damaged.
    static let companions = ["", "-wal", "-shm", "-journal"]

    let protected: ProtectedPaths
    private let folder: String
    private let lock: FileLock

    /// The list's descriptor, which is locked from before the list is in its place until the closure has ended; `nil` after that.
    ///
    /// The state's lock doesn't say that a closure runs, since a process that puts files back holds the same lock. Where the file of
    /// the state's lock was removed while a closure runs, the list's still keeps other processes away. Nobody else ever takes it
    /// exclusively, so a process that only looks is never mistaken for the closure's.
    private var listLock: Int32?

    /// Writes the list durably, and locks it; nothing is copied yet.
    ///
    /// - Throws: ``MigrationError``, or a ``SystemCallError`` with its path. Nothing is left of the list then.
    init(of protected: ProtectedPaths, under lock: FileLock) throws {
        self.protected = protected
        self.lock = lock
        let location = protected.location
        // No state asks for a left-over, and one that can't be removed must not shut out each later migration.
        let left = try SavedFiles(location, for: protected.version)
        do throws(SystemCallError) { _ = try left?.discard() } catch {
            _ = try left?.keep(from: Platform.now)
        }
        folder = try location.nextSnapshot()
        try Platform.makeDirectory(folder)
        do {
            try Self.refuseForeign(folder)
            if try FileStatus(ofEntry: folder).permissions & 0o077 != 0 { throw Platform.foreign(folder) }
            let text = try protected.list(copiedTo: folder).text
            listLock = try Platform.save(text, to: folder + "/list", in: folder, isLocked: true)
            try Platform.synchronize(folder)
            try Platform.synchronize(location.directory)
        } catch {
            remove()
            throw error
        }
    }

    /// The paths that are protected with a path: a database's companions too, whether they are there or not.
    static func parts(of path: String) throws(SystemCallError) -> [String] {
        try Platform.status(path)?.kind == .directory ? [path] : companions.map { path + $0 }
    }

    /// Copies what the list names, durably; after a throw ``remove()`` comes next.
    ///
    /// A cancelled task ends the copying. The handler gets how much is done, from 0 to 1, about a hundred times, however many files
    /// there are, and what is being done.
    func fill(_ handler: @escaping CopyReport) throws {
        var trees: [[FileTree]] = []
        var (total, done, percent) = (0.0, 0.0, -1)
        for path in protected.paths {
            let parts = try Self.parts(of: path).map { part in
                try FileTree(part) { entry in try protected.requireCopyable(entry, of: path) }
            }
            for tree in parts { total += tree.cost }
            trees.append(parts)
        }
        let reach = { [protected] (path: String, cost: Double) throws in
            try protected.refuseCancelled()
            let reached = Int(min(done / total, 1) * 100)
            done += cost
            if reached == percent { return }
            percent = reached
            handler(Double(percent) / 100, "copying \(path)")
        }
        let copier = FileCopier()
        for (index, parts) in trees.enumerated() {
            let place = "\(folder)/\(index)"
            try Platform.makeDirectory(place)
            var count = 0
            for (companion, tree) in zip(Self.companions, parts) {
                count += tree.entries.count
                if tree.entries.isEmpty {
                    try Platform.makeMark(place + "/absent" + companion)
                } else {
                    try tree.copy(to: place + "/item" + companion, by: copier, reach)
                }
            }
            // Only a folder has no companions.
            if parts.count == 1 {
                try Platform.makeDirectory(place + "/model")
                try Platform.copyAttributes(ofFolder: protected.paths[index], to: place + "/model")
            }
            try Platform.makeMark("\(place)/entries-\(count)")
        }
        try FileTree.synchronize([folder], by: lock.flush)
        try protected.refuseCancelled()
    }

    /// Syncs what the closure left at the paths to disk, with what SQLite keeps beside it and the folders above.
    func synchronizeWork() throws(SystemCallError) {
        let (paths, stateFolder) = (protected.paths, protected.stateFolder)
        try FileTree.synchronize(paths.flatMap { path in Self.companions.map { path + $0 } }, by: lock.flush)
        for path in paths { try FileTree.synchronizeFolders(from: FilePaths.parent(path), upTo: stateFolder) }
    }

    /// Says that the closure has ended.
    ///
    /// After this point a new start may restore the files, because no closure uses them any more.
    func endListLock() {
        if let listLock { Platform.unlock(listLock) }
        listLock = nil
    }

    /// Removes the snapshot, which no state asks for.
    ///
    /// The next holder of the state's lock removes what can't be removed now.
    func remove() {
        do throws(SystemCallError) { try Platform.removeTree(folder) } catch {}
        endListLock()
    }

    /// Refuses a folder of copies that another user made, whose list and copies could overwrite any file of this user's.
    ///
    /// A closure that gives rights to all of the app's files away gives those to it away, too.
    static func refuseForeign(_ folder: String) throws(SystemCallError) {
        let status = try FileStatus(ofEntry: folder)
        if status.kind != .directory || !Platform.isOwn(status) { throw Platform.foreign(folder) }
    }
}

/// Is told how much of a copying is done, from 0 to 1, and what is being done.
typealias CopyReport = (_ fraction: Double, _ note: String) -> Void
