/// A copy of what `protecting:` names, as it was before a migration: `<name>.migrations.snapshot` with a numbered
/// folder for each path.
///
/// It is complete and synced to disk before the intent that lists its paths is saved, and it goes only after a state
/// without that list is. So a snapshot that a state refers to is whole, whatever process died when.
struct FileSnapshot {
    let location: StateLocation
    let lock: FileLock

    /// SQLite keeps what isn't in the database yet in files beside it (sqlite.org, "Temporary Files Used By SQLite"): a
    /// database put back beside the wrong ones would be damaged.
    static let companions = ["", "-wal", "-shm", "-journal"]

    init(_ location: StateLocation, _ lock: FileLock) {
        self.location = location
        self.lock = lock
    }

    /// Copies what the paths name, and gives them as the intent lists them; `nil` when there are none.
    ///
    /// A cancelled task ends the copying.
    func take(
        _ paths: [String],
        _ handler: @escaping CopyProgress.Handler
    ) throws(ProtectionFailure) -> FileProtection? {
        if paths.isEmpty { return nil }
        var named = try FileProtection(paths, location, lock)
        try named.refuseUnfinished()
        try explaining(.taking) {
            // A restore would refuse it, when it is too late.
            try refuseForeign(named.stateFolder, .taking)
            var extent = CopyProgress.Extent()
            for path in named.paths { extent += try self.extent(of: path.absolute) }
            try makeFolder(location.snapshot)
            do {
                try fill(named, extent, handler)
                named.claim = try FileTree.at(location.snapshot) { () throws(SystemCallError) in
                    try SnapshotClaim(location)
                }
            } catch {
                // No intent lists what was begun. What can't be removed now is removed by the next holder of the lock.
                do { try FileTree.remove(location.snapshot) } catch {}
                throw error
            }
        }
        return named
    }

    private func fill(
        _ named: FileProtection,
        _ extent: CopyProgress.Extent,
        _ handler: @escaping CopyProgress.Handler
    ) throws {
        let progress = CopyProgress.taking(extent, handler)
        var isRoomChecked = false
        for (index, path) in named.paths.enumerated() {
            let folder = folder(index)
            try makeFolder(folder)
            try FileParent.note(
                above: path.canonical,
                upTo: named.stateFolder,
                models: models(index)
            )
            let isThere = try FileTree.status(path.absolute) != nil
            if !isThere { try makeFolder(folder + Self.absence) }
            let place = isThere ? path.canonical : FilePaths.parent(path.canonical)
            if try FileTree.isElsewhere(place, from: named.stateFolder) { try makeFolder(elsewhere(index)) }
            var count = 0
            for companion in try companions(of: path.absolute) {
                count += try FileTree.copy(
                    path.absolute + companion,
                    to: "\(folder)/item\(companion)",
                    progress
                ) {
                    if isRoomChecked { return }
                    isRoomChecked = true
                    try checkRoom(extent.bytes)
                }
            }
            try makeFolder(folder + Self.size(count))
        }
        try FileTree.synchronize([FileTree.Place(path: location.snapshot)], by: lock)
        try FileTree.at(location.directory, call: Platform.synchronizeDirectory)
        try progress.check()
    }

    private func makeFolder(_ path: String) throws {
        try FileTree.at(path) { () throws(SystemCallError) in try Platform.makeDirectory(path) }
    }

    /// Puts everything back to what it was, durably.
    ///
    /// Until the intent is cleared it can be done again from the start.
    func restore(
        _ interrupted: Interruption,
        _ handler: @escaping CopyProgress.Handler
    ) throws(ProtectionFailure) {
        try explaining(.restoring) {
            let base = try FileTree.at(location.directory, call: Platform.resolved)
            try refuseForeign(base, .restoring)
            let paths = interrupted.protected.map { FilePaths.absolute($0, from: base) }
            // The list may have been edited by hand.
            for path in paths where FilePaths.contains(path, base) {
                let reason: Message = "the state directory is in it"
                throw ProtectionFailure.unprotectable(path, reason, .restoring)
            }
            try refuseMoved(interrupted, base)
            var extent = CopyProgress.Extent()
            for (index, folder) in ([location.snapshot] + paths.indices.map(folder)).enumerated() {
                let isWhole = try FileTree.status(folder)?.kind == .directory
                if !isWhole { throw ProtectionFailure.snapshotMissing(folder, paths) }
                if index > 0 { extent += try refuseEmptied(folder, paths) }
            }
            for (index, path) in paths.enumerated() {
                let isAbsent = try FileTree.status(folder(index) + Self.absence) != nil
                let place = isAbsent ? FilePaths.parent(path) : path
                let isElsewhere = try FileTree.isElsewhere(place, from: base)
                let wasElsewhere = try FileTree.status(elsewhere(index)) != nil
                if wasElsewhere, !isElsewhere { throw FileTree.Obstacle.unmounted(path) }
                if isElsewhere, !wasElsewhere { throw FileTree.Obstacle.mounted(path) }
            }
            let progress = CopyProgress.restoring(extent, handler)
            let spared = try FileTree.identities(from: base)
            for (index, path) in paths.enumerated() {
                let saved = "\(folder(index))/item"
                let isFolder = try FileTree.status(saved)?.kind == .directory
                let suffixes = isFolder ? [""] : Self.companions
                try FileTree.replace(
                    path,
                    with: saved,
                    suffixes: suffixes,
                    models: models(index),
                    sparing: spared,
                    by: lock,
                    progress
                )
                try FileTree.synchronizeFolders(from: FilePaths.parent(path), upTo: base)
            }
        }
    }

    /// Removes the snapshot, if there is one.
    ///
    /// Where something else than a folder stands there, this library didn't make it, and it stays.
    func remove(synchronizing: Bool) throws(ProtectionFailure) {
        try explaining(.clearing) {
            guard let status = try FileTree.status(location.snapshot) else { return }
            guard status.kind == .directory else { throw FileTree.Obstacle.special(location.snapshot) }
            if synchronizing {
                try FileTree.at(location.directory, call: Platform.synchronizeDirectory)
            }
            try FileTree.remove(location.snapshot)
        }
    }

    /// Stands for a path that is on another file system than the state, or in another mount.
    private func elsewhere(_ index: Int) -> String { "\(folder(index))/elsewhere" }

    private func models(_ index: Int) -> String { "\(folder(index))/above-" }

    private func folder(_ index: Int) -> String { "\(location.snapshot)/\(index)" }

    private func companions(of path: String) throws -> [String] {
        try FileTree.status(path)?.kind == .directory ? [""] : Self.companions
    }

    /// How much a copy may need, of a tree that can be copied.
    private func extent(of path: String) throws -> CopyProgress.Extent {
        var extent = CopyProgress.Extent()
        for companion in try companions(of: path) {
            let top = path + companion
            try FileTree.survey(top) { status, place in
                extent += CopyProgress.Extent(status)
                if status.kind == .file { try FileProtection.refuseState(place(), in: path) }
            }
        }
        return extent
    }

    private func checkRoom(_ needed: UInt64) throws {
        let free = try FileTree.at(location.directory, call: Platform.freeSpace)
        if needed > free {
            throw ProtectionFailure.noRoom(needed: needed, free: free, in: location.directory)
        }
    }

    func explaining<Value>(
        _ stage: ProtectionFailure.Stage,
        _ body: () throws -> Value
    ) throws(ProtectionFailure) -> Value {
        try ProtectionFailure.explaining(stage, at: location.snapshot, body)
    }
}
