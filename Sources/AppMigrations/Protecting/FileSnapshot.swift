/// A copy of what `protecting:` names, as it was before a migration: `<name>.migrations.snapshot` with a numbered
/// folder for each path.
///
/// It is complete and on the medium before the intent that lists its paths is saved, and it goes only after a state
/// without that list is. So a snapshot that a state refers to is whole, whatever process died when.
struct FileSnapshot {
    let location: StateLocation

    /// SQLite keeps what isn't in the database yet in files beside it (sqlite.org, "Temporary Files Used By SQLite"): a
    /// database put back beside the wrong ones would be damaged.
    static let companions = ["", "-wal", "-shm", "-journal"]

    init(_ location: StateLocation) { self.location = location }

    /// Copies what the paths name, and gives them as the intent lists them; `nil` when there are none.
    func take(_ paths: [String], _ version: AppVersion) throws(MigrationError) -> FileProtection? {
        if paths.isEmpty { return nil }
        let named = try FileProtection(paths, location, version)
        let paths = named.paths
        try named.refuseUnfinished(location, version)
        try explaining(version, .taking) {
            // A restore would refuse it, when it is too late.
            try refuseForeign(named.stateFolder, version, .taking)
            var needed: UInt64 = 0
            for path in paths {
                let (sum, isTooMuch) = needed.addingReportingOverflow(try size(of: path, version))
                needed = isTooMuch ? .max : sum
            }
            try FileTree.at(location.snapshot) { () throws(SystemCallError) in
                try Platform.makeDirectory(location.snapshot)
            }
            do {
                try fill(named, needed, version)
            } catch {
                // What was begun is rubbish: without an intent nobody looks at it, and the next holder clears it.
                do { try FileTree.remove(location.snapshot) } catch {}
                throw error
            }
        }
        return named
    }

    private func fill(_ named: FileProtection, _ needed: UInt64, _ version: AppVersion) throws {
        var isRoomChecked = false
        for (index, path) in named.paths.enumerated() {
            let folder = folder(index)
            try FileTree.at(folder) { () throws(SystemCallError) in try Platform.makeDirectory(folder) }
            try FileParent.note(
                above: named.canonicals[index],
                upTo: named.stateFolder,
                models: models(index)
            )
            let isThere = try FileTree.status(path) != nil
            if !isThere { try mark(folder + Self.absence) }
            let place = isThere ? named.canonicals[index] : FilePaths.parent(named.canonicals[index])
            if try FileTree.isElsewhere(place, from: named.stateFolder) { try mark(elsewhere(index)) }
            var count = 0
            for companion in try companions(of: path) {
                count += try FileTree.copy(path + companion, to: "\(folder)/item\(companion)") {
                    if isRoomChecked { return }
                    isRoomChecked = true
                    try checkRoom(needed, version)
                }
            }
            try mark(folder + Self.size(count))
        }
        try FileTree.synchronize(location.snapshot)
        try FileTree.at(location.directory) { () throws(SystemCallError) in
            try Platform.synchronizeDirectory(location.directory)
        }
    }

    private func mark(_ path: String) throws {
        try FileTree.at(path) { () throws(SystemCallError) in try Platform.makeDirectory(path) }
    }

    /// Says to other processes that the closure is running, until the claim ends.
    func claim(_ version: AppVersion) throws(MigrationError) -> SnapshotClaim {
        do throws(SystemCallError) {
            return try SnapshotClaim(location)
        } catch {
            // Without an intent it is rubbish, as above.
            do { try FileTree.remove(location.snapshot) } catch {}
            throw .protection(error, location.snapshot, location, version, .taking)
        }
    }

    /// Puts everything back to what it was, durably.
    ///
    /// Until the intent is cleared it can be done again from the start.
    func restore(_ interrupted: Interruption) throws(MigrationError) {
        let version = interrupted.version
        try explaining(version, .restoring) {
            let base = try FileTree.at(location.directory) { () throws(SystemCallError) in
                try Platform.resolved(location.directory)
            }
            try refuseForeign(base, version, .restoring)
            let paths = interrupted.protected.map { FilePaths.absolute($0, from: base) }
            // The list may have been edited by hand.
            for path in paths where FilePaths.contains(path, base) {
                let reason: Message = "the state directory is in it"
                throw MigrationError.unprotectable(path, reason, location, version, .restoring)
            }
            try refuseMoved(interrupted, base)
            for (index, folder) in ([location.snapshot] + paths.indices.map(folder)).enumerated() {
                let isWhole = try FileTree.status(folder)?.kind == .directory
                if !isWhole { throw MigrationError.snapshotMissing(folder, paths, location, version) }
                if index > 0 { try refuseEmptied(folder, paths, version) }
            }
            for (index, path) in paths.enumerated() {
                let isAbsent = try FileTree.status(folder(index) + Self.absence) != nil
                let place = isAbsent ? FilePaths.parent(path) : path
                let isElsewhere = try FileTree.isElsewhere(place, from: base)
                let wasElsewhere = try FileTree.status(elsewhere(index)) != nil
                if wasElsewhere, !isElsewhere { throw FileTree.Unmounted(path: path) }
                if isElsewhere, !wasElsewhere { throw FileTree.Mounted(path: path) }
            }
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
                    sparing: spared
                )
                try FileTree.synchronizeFolders(from: FilePaths.parent(path), upTo: base)
            }
        }
    }

    /// Removes the snapshot, if there is one.
    ///
    /// What stands there and isn't a folder is nobody's rubbish.
    func remove(synchronizing: Bool) throws(MigrationError) {
        try explaining(nil, .clearing) {
            guard let status = try FileTree.status(location.snapshot) else { return }
            guard status.kind == .directory else { throw FileTree.SpecialFile(path: location.snapshot) }
            if synchronizing {
                try FileTree.at(location.directory) { () throws(SystemCallError) in
                    try Platform.synchronizeDirectory(location.directory)
                }
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

    /// The bytes that a copy may need, of a tree that can be copied.
    private func size(of path: String, _ version: AppVersion) throws -> UInt64 {
        var size: UInt64 = 0
        for companion in try companions(of: path) {
            let top = path + companion
            try FileTree.survey(top) { status, place in
                guard status.kind == .file else { return }
                try FileProtection.refuseState(place(), in: path, location, version)
                // Holes stay holes.
                let needed = UInt64(min(status.size, status.allocated))
                let (sum, isTooMuch) = size.addingReportingOverflow(needed)
                size = isTooMuch ? .max : sum
            }
        }
        return size
    }

    private func checkRoom(_ needed: UInt64, _ version: AppVersion) throws {
        let free = try FileTree.at(location.directory) { () throws(SystemCallError) in
            try Platform.freeSpace(location.directory)
        }
        if needed > free { throw MigrationError.noRoom(needed: needed, free: free, location, version) }
    }

    func explaining<Value>(
        _ version: AppVersion?,
        _ stage: SnapshotStage,
        _ body: () throws -> Value
    ) throws(MigrationError) -> Value {
        do {
            return try body()
        } catch let error as MigrationError {
            throw error
        } catch let failure as FileTree.Failure {
            throw .protection(failure.cause, failure.path, location, version, stage)
        } catch let special as FileTree.SpecialFile {
            throw .special(special.path, location, version, stage)
        } catch let mount as FileTree.MountPoint {
            throw .mountPoint(mount.path, location, version, stage)
        } catch let place as FileTree.Unmounted {
            throw .unmounted(place.path, location, version, stage)
        } catch let place as FileTree.Mounted {
            throw .mounted(place.path, location, version, stage)
        } catch let holder as FileTree.Spared {
            let reason: Message = "the state directory is in it, to which a link on the way leads now"
            throw .unprotectable(holder.path, reason, location, version, stage)
        } catch let link as FileParent.ForeignLink {
            throw .foreignLink(link.path, location, version, stage)
        } catch {
            throw .protection(error, location.snapshot, location, version, stage)
        }
    }
}

/// What was being done with a snapshot when something failed.
enum SnapshotStage {
    case taking, restoring, missing, noting, withdrawing, abandoning, clearing
}
