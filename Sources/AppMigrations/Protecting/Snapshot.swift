/// A copy of what `protecting:` names, as it was before a migration: `<name>.migrations.snapshot` with the list of the paths
/// and a numbered folder for each.
///
/// ```text
/// take     the list, made under another name, locked and renamed into place; a look at the other managers' lists; then for
///          each path <i>/item, with what SQLite keeps beside it, or <i>/absent; last <i>/entries-<count>
/// restore  each item goes back by a rename, and each mark of something absent becomes `….spent`
/// ```
///
/// It is complete and synced to disk before the intent is saved, and it goes only after a state that no longer protects is.
/// So a snapshot that a state asks for is whole, whatever process died when.
final class Snapshot {
    /// SQLite keeps what isn't in the database yet in files beside it (sqlite.org, "Temporary Files Used By SQLite"): a
    /// database put back beside the wrong ones would be damaged.
    static let companions = ["", "-wal", "-shm", "-journal"]

    let location: StateLocation
    let version: AppVersion
    let folder: String
    let stateFolder: String
    let paths: [String]
    private let lock: FileLock

    /// The lock of the list, which says that the closure is running; `nil` once it has ended.
    private var claim: ListLock?

    /// Writes the list durably, and locks it; nothing is copied yet.
    ///
    /// `nil` where nothing is to be protected.
    ///
    /// - Throws: ``MigrationError``, or a ``SystemCallError`` with its path. Nothing is left of the list then.
    init?(
        of named: [String],
        _ version: AppVersion,
        _ location: StateLocation,
        _ lock: FileLock
    ) throws {
        if named.isEmpty { return nil }
        let protected = try ProtectedPaths(named, location, version)
        (self.location, self.version, self.lock) = (location, version, lock)
        (stateFolder, paths) = (protected.stateFolder, protected.paths)
        folder = try location.snapshotInUse()
        let list = SnapshotList(
            manager: location.name,
            stateFolder: stateFolder,
            paths: try paths.map { path in
                SnapshotList.Path(
                    relative: FilePaths.relative(path, to: stateFolder),
                    identity: try Platform.status(path)?.identity,
                    isElsewhere: try Self.isElsewhere(path, from: stateFolder)
                )
            }
        )
        try Platform.makeDirectory(folder)
        do {
            try refuseForeign(folder, location, .taking, version)
            claim = try ListLock(making: folder + "/" + SnapshotList.name, list.text)
            try Platform.synchronizeDirectory(folder)
            try Platform.synchronizeDirectory(location.directory)
        } catch {
            throw takingBack(error)
        }
    }

    /// Copies what the list names, durably.
    ///
    /// A cancelled task ends the copying.
    func fill(_ handler: @escaping CopyProgress.Handler) throws {
        do {
            var trees: [[(companion: String, tree: FileTree)]] = []
            for path in paths {
                let isFolder = try Platform.status(path)?.kind == .directory
                trees.append(
                    try (isFolder ? [""] : Self.companions).map { ($0, try FileTree(toCopy: path + $0)) }
                )
            }
            for (path, parts) in zip(paths, trees) {
                guard let state = parts.lazy.compactMap(\.tree.state).first else { continue }
                let reason: Message =
                    "\(path.quoted) can't be protected, since the state of a manager is in it, \(state)"
                throw location.protection(.taking, version, at: path, reason)
            }
            var progress = CopyProgress(trees.joined().map(\.tree), handler)
            for (index, parts) in trees.enumerated() {
                let place = "\(folder)/\(index)"
                try Platform.makeDirectory(place)
                var count = 0
                for (companion, tree) in parts {
                    if tree.entries.isEmpty {
                        try Platform.makeDirectory(place + "/absent" + companion)
                    } else {
                        try tree.copy(to: place + "/item" + companion, &progress)
                    }
                    count += tree.entries.count
                }
                try Platform.makeDirectory("\(place)/entries-\(count)")
            }
            try FileTree.synchronize([folder], by: lock)
            if Task.isCancelled { throw CancellationError() }
        } catch {
            throw takingBack(error)
        }
    }

    /// Syncs what the closure did to the files, and the names of it, to disk.
    func synchronizeWork() throws(SystemCallError) {
        try FileTree.synchronizeWork(paths, upTo: stateFolder, by: lock)
    }

    /// Says that the closure has ended.
    ///
    /// From then on a start waits for the files, which may be put back, and doesn't take them for a closure's.
    func endClaim() {
        claim?.end()
        claim = nil
    }

    /// Removes a snapshot that no state asks for; gives `error`.
    ///
    /// What can't be removed now is removed by the next holder of the state's lock.
    func takingBack(_ error: any Error) -> any Error {
        do throws(SystemCallError) { try FileTree(toRemove: folder).remove() } catch {}
        endClaim()
        return error
    }

    /// Whether a path is on another file system than the state's folder, or in another mount.
    static func isElsewhere(_ path: String, from base: String) throws(SystemCallError) -> Bool {
        var place = path
        var device: UInt64?
        while !FilePaths.contains(place, base) {
            let above = FilePaths.parent(place)
            if let status = try Platform.status(place), let folder = try Platform.identity(ofFolder: above) {
                if Platform.isMountPoint(place, status, above: folder.device) { return true }
                if device == nil { device = folder.device }
            }
            place = above
        }
        // Without a folder of its own, the path is in the one that holds the state too.
        guard let device else { return false }
        return try device != FileStatus(following: base).identity.device
    }
}

/// Refuses a folder of copies that another user made, or may change: with a list and a copy of their own making, another user
/// could overwrite any file that this user may write to.
func refuseForeign(
    _ folder: String,
    _ location: StateLocation,
    _ stage: ProtectionStage,
    _ version: AppVersion?
) throws {
    let status = try FileStatus(ofEntry: folder)
    if status.kind == .directory, status.permissions & 0o077 == 0, Platform.isOwn(status) { return }
    let reason: Message =
        "\(folder) is not a folder of this user alone, and a list of files that somebody else wrote could overwrite any file"
    throw location.protection(stage, version, at: folder, reason)
}
