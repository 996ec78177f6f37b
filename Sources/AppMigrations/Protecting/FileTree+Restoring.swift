extension FileTree {
    /// Makes `target` durably what `source` is, and each file likewise whose name is `target` with one of `suffixes` at its end.
    ///
    /// A file that is equal already isn't touched: it may be immutable, or another process may write to it. What can be
    /// removed is made again. The rest is written in place, since a mounted file can't be removed, nor a file in a folder
    /// that isn't this user's. Folders stay the same folders.
    /// Folders above that went are made again as `models` has them. A folder that is one of `spared` is refused.
    static func replace(
        _ target: String,
        with source: String,
        suffixes: [String],
        models: String,
        sparing spared: Set<FileIdentity>,
        by lock: FileLock,
        _ progress: CopyProgress
    ) throws {
        let isWanted = try suffixes.contains { try status(source + $0) != nil }
        let parent = FileParent(of: target, isMaking: isWanted, models: models)
        guard let folder = try parent.open() else { return }
        let result = Result {
            for suffix in suffixes {
                try replace(target + suffix, in: folder, with: source + suffix, sparing: spared, progress)
            }
            let places = suffixes.map { Place(path: target + $0, name: name(target + $0), folder: folder) }
            try synchronize(places, by: lock)
            try parent.synchronize()
        }
        try parent.close()
        try result.get()
    }

    private static func replace(
        _ target: String,
        in folder: Int32,
        with source: String,
        sparing spared: Set<FileIdentity>,
        _ progress: CopyProgress
    ) throws {
        let name = name(target)
        if let found = try FolderTrail(target, in: folder).find(name), spared.contains(found.identity) {
            throw ProtectionFailure.unprotectable(target, "the state directory is in it", .restoring)
        }
        // Removals come first: the files that are put back may need the room.
        let unchanged = try prune(target, name, in: folder, source, progress)
        let copying = FileCopying(
            source: FileWalk(source),
            target: FolderTrail(target, in: folder),
            name: name,
            progress: progress,
            unchanged: unchanged
        )
        try copying.run()
    }

    private static func name(_ path: String) -> FileName { FileName(FilePaths.last(path).utf8CString) }

    /// Removes from a tree what its model hasn't, or has otherwise, and gives the files and links that are as in the model.
    private static func prune(
        _ path: String,
        _ name: FileName,
        in folder: Int32,
        _ source: String,
        _ progress: CopyProgress
    ) throws -> Set<FileIdentity> {
        var unchanged: Set<FileIdentity> = []
        let walk = FileWalk(path, name, in: folder)
        let model = FolderTrail(source)
        // Looked up by their bytes: a file system may find a name that is written in another way.
        var names: [Set<FileName>] = []
        while let step = try walk.next() {
            switch step {
            case .entry(let name, let status):
                let isTop = walk.isAtTop
                let copy = isTop ? FileName(source.utf8CString) : name
                let isKnown = isTop || names.last?.contains(name) == true
                let wanted = isKnown ? try model.find(copy) : nil
                try progress.reach { walk.trail.path(name) }
                if wanted?.kind == .directory, status.kind == .directory {
                    guard try walk.enterToChange(name, status) else { continue }
                    try model.enter(copy)
                    names.append(
                        Set(
                            try model.at { folder throws(SystemCallError) in
                                try Platform.names(inOpen: folder)
                            }
                        )
                    )
                } else if let wanted, wanted.kind == status.kind,
                    try isSame(walk.trail, name, status, as: model, copy, wanted)
                {
                    unchanged.insert(status.identity)
                    if status.kind == .file { progress.add(CopyProgress.Extent(wanted).cost) }
                } else {
                    try discard(walk.trail, name, status, wanted)
                }
            case .end:
                try model.leave()
                names.removeLast()
            case .left: continue
            }
        }
        return unchanged
    }

    private static func isSame(
        _ trail: FolderTrail,
        _ name: FileName,
        _ status: FileStatus,
        as model: FolderTrail,
        _ copy: FileName,
        _ wanted: FileStatus
    ) throws -> Bool {
        if status.kind == .link {
            let content = try trail.at(name) { folder throws(SystemCallError) in
                try Platform.linkContent(name, in: folder)
            }
            return try model.at(copy) { folder throws(SystemCallError) in
                try Platform.linkContent(copy, in: folder)
            } == content
        }
        guard status.kind == .file, status.size == wanted.size else { return false }
        if Platform.wouldGiveAway(status, to: wanted) { return false }
        let file: Int32
        do throws(SystemCallError) {
            file = try Platform.openToRead(name, in: trail.folder)
        } catch {
            // What can't be read is made again.
            return false
        }
        defer { Platform.closeAfterReading(file) }
        return try model.at(copy) { folder throws(SystemCallError) in
            if try FileStatus(file).identity != status.identity { return false }
            let other = try Platform.openToRead(copy, in: folder)
            defer { Platform.closeAfterReading(other) }
            return try Platform.haveSameContent(file, other)
        }
    }

    /// Removes something, or empties it where its name stays.
    private static func discard(
        _ trail: FolderTrail,
        _ name: FileName,
        _ status: FileStatus,
        _ wanted: FileStatus?
    ) throws {
        do {
            let path = trail.path(name)
            // A file system that was mounted meanwhile is not this app's.
            _ = try remove(name, in: trail.folder, path, above: trail.holder())
        } catch let failure as Failure
            where failure.cause.isKeptName && status.kind == .file && wanted?.kind == .file
        {
            do {
                let file = try trail.at(name) { folder throws(SystemCallError) in
                    try Platform.openToOverwrite(name, in: folder)
                }
                Platform.closeAfterReading(file)
            } catch {
                // Why the name stays says more.
                throw failure
            }
        }
    }
}
