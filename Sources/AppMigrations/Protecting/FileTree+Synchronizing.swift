/// Syncs trees to disk: few files one by one, many by one call for all of their file system.
extension FileTree {
    /// Where a tree's top is: a path, or a name in an open folder.
    struct Place {
        let path: String
        var name: FileName?
        var folder = Platform.anyFolder

        var walk: FileWalk { FileWalk(path, name, in: folder) }
    }

    /// Up to how many files are synced one by one.
    ///
    /// The call for all of a file system waits for what every other process has written there, which can be gigabytes. For
    /// so few files the wait for each of them is the shorter one, and it is bounded.
    static var fewFiles: Int { 32 }

    /// Syncs what stands at these places, and in it, to disk.
    ///
    /// `lock` was taken before anything was written: its file witnesses the errors of its file system since. What lies on
    /// another file system, or on one of an untried kind, is synced file by file.
    static func synchronize(_ places: [Place], by lock: FileLock?) throws {
        let extent = try Extent(places, device: lock?.identity.device)
        var synced: UInt64?
        if let lock, extent.filesHere > fewFiles {
            let isFlushed = try at(places[0].path) { () throws(SystemCallError) in
                try lock.flushFileSystem()
            }
            if isFlushed { synced = lock.identity.device }
            if isFlushed, !extent.hasMore { return }
        }
        // A file system writes many files at once faster than each when it is waited for.
        if synced == nil, Platform.canBeginWriting, extent.files > fewFiles {
            for place in places { try beginWriting(place.walk) }
        }
        for place in places { try synchronize(place.walk, but: synced) }
    }

    /// How much there is to sync.
    private struct Extent {
        var files = 0
        /// The files on the file system of the lock.
        var filesHere = 0
        /// Whether there is something on another file system, or something that can't be looked into.
        var hasMore = false

        init(_ places: [Place], device: UInt64?) throws {
            for place in places {
                let walk = place.walk
                while let step = try walk.next() {
                    guard case .entry(let name, let status) = step else { continue }
                    let isHere = status.identity.device == device
                    if status.kind == .file {
                        files += 1
                        if isHere { filesHere += 1 }
                    }
                    if !isHere { hasMore = true }
                    if status.kind != .directory { continue }
                    do throws(Failure) {
                        let isEntered = try walk.enter(name).identity.device == device
                        if !isEntered { hasMore = true }
                    } catch {
                        if !error.cause.isForbidden { throw error }
                        hasMore = true
                    }
                }
            }
        }
    }

    private static func beginWriting(_ walk: FileWalk) throws {
        while let step = try walk.next() {
            guard case .entry(let name, let status) = step else { continue }
            do throws(Failure) {
                switch status.kind {
                case .directory: try walk.enter(name)
                case .file:
                    try walk.trail.at(name) { folder throws(SystemCallError) in
                        let descriptor = try Platform.openToSynchronize(name, in: folder)
                        Platform.beginWriting(descriptor)
                        Platform.closeAfterReading(descriptor)
                    }
                default: continue
                }
            } catch {
                // The sync itself finds another way, or throws.
                if !error.cause.isForbidden { throw error }
            }
        }
    }

    /// Syncs each file and folder, but those on the device that is `synced`.
    private static func synchronize(_ walk: FileWalk, but synced: UInt64?) throws {
        while let step = try walk.next() {
            switch step {
            case .entry(let name, let status) where status.kind == .directory:
                do throws(Failure) {
                    try walk.enter(name)
                } catch {
                    try synchronizeUnopened(walk, error)
                }
            case .entry(let name, let status)
            where status.kind == .file && status.identity.device != synced:
                let isTop = walk.isAtTop
                do throws(Failure) {
                    try walk.trail.at(name) { folder throws(SystemCallError) in
                        let descriptor = try Platform.openToSynchronize(name, in: folder)
                        defer { Platform.closeAfterReading(descriptor) }
                        try isTop ? Platform.synchronize(descriptor) : Platform.handOver(descriptor)
                    }
                } catch {
                    try synchronizeUnopened(walk, error)
                }
            case .end(let status) where status.identity.device != synced:
                // A drive has one cache for everything: the top, which comes last, brings all the files through it.
                let isTop = walk.trail.depth == 1
                try walk.trail.at { folder throws(SystemCallError) in
                    try Platform.synchronizeFolder(opened: folder, throughCache: isTop)
                }
            default: continue
            }
        }
    }

    /// Syncs something to disk that this user may not open, by syncing all of its file system.
    ///
    /// A closure can leave a file or folder without permissions. If it had to be opened, the record would fail at every start.
    /// What is mounted there is on another file system than its folder, and can't be reached through it.
    private static func synchronizeUnopened(_ walk: FileWalk, _ failure: Failure) throws {
        if !failure.cause.isForbidden || Platform.isMountPoint(failure.path) { throw failure }
        let isSynchronized: Bool
        do throws(SystemCallError) {
            // The top's folder isn't open, since its path leads there.
            let folder =
                try walk.isAtTop
                ? Platform.openDirectory(FilePaths.parent(failure.path))
                : Platform.openFolder(FileName(".".utf8CString), in: walk.trail.folder)
            defer { Platform.closeAfterReading(folder) }
            isSynchronized = try Platform.synchronizeFileSystem(of: folder)
        } catch {
            if error.isForbidden { throw failure }
            throw Failure(cause: error, path: failure.path)
        }
        if !isSynchronized { throw failure }
    }
}
