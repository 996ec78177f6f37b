/// The thing at a path, with everything in it: listed once, then copied, synced or removed.
///
/// Links in a tree are never followed. The path to a tree's top is taken as it is, with the links of the folders that it leads through.
struct FileTree {
    final class Entry {
        /// The path from the top on: empty for the top itself, and else with a slash first.
        let path: String
        let status: FileStatus

        init(_ path: String, _ status: FileStatus) { (self.path, self.status) = (path, status) }
    }

    enum Use { case look, copy, remove }

    let top: String

    /// Each folder comes before what is in it; none where nothing stands at the top.
    private(set) var entries: [Entry] = []

    /// Lists what stands there; throws where it can't be used.
    init(_ top: String, to use: Use = .look) throws(SystemCallError) {
        self.top = top
        guard let status = try Platform.companion(top) else { return }
        let folder = try Platform.identity(ofFolder: FilePaths.parent(top))
        try add("", status, above: folder?.device ?? status.identity.device, use)
        var index = 0
        while index < entries.count {
            let (folder, path) = (entries[index], top + entries[index].path)
            index += 1
            if folder.status.kind != .directory { continue }
            let names = try Platform.at(path) { () throws(SystemCallError) in
                try Platform.names(in: path, strictly: true)
            }
            for name in names {
                // Another process may have removed it meanwhile, as a connection to a database removes files.
                guard let status = try Platform.status(path + "/" + name) else { continue }
                try add(folder.path + "/" + name, status, above: folder.status.identity.device, use)
            }
        }
    }

    /// Adds an entry before it is looked into; `above` is the device of its folder.
    private mutating func add(_ path: String, _ status: FileStatus, above: UInt64, _ use: Use)
        throws(SystemCallError)
    {
        let (place, isFolder) = (top + path, status.kind == .directory)
        // A protected folder that is a mount point is put back by its entries. A mounted file can't be removed (unlink(2)).
        if use == .remove && isFolder || use == .copy && !(isFolder && path.isEmpty),
            Platform.isMountPoint(place, status, above: above)
        {
            throw Platform.mounted(place)
        }
        if use == .copy, status.kind == .other { throw Platform.unsupported(place) }
        // A folder can't be listed or emptied by its owner without the rights to it.
        if use == .remove, isFolder, status.permissions & 0o700 != 0o700 {
            try Platform.setPermissions(place, status.permissions | 0o700)
        }
        entries.append(Entry(path, status))
    }

    var state: String? {
        let suffix = StateLocation.suffix.description
        let state = entries.first { $0.status.kind == .file && (top + $0.path).hasSuffix(suffix) }
        return state.map { top + $0.path }
    }

    var folders: [String] { entries.compactMap { $0.status.kind == .directory ? top + $0.path : nil } }

    /// A file costs its calls and its bytes, so an entry counts like 4 KiB.
    var cost: Int {
        entries.reduce(0) { $0 + Self.costOfEntry + ($1.status.kind == .file ? $1.status.size : 0) }
    }

    private static var costOfEntry: Int { 4_096 }

    /// Removes all that can be removed, and throws the first error.
    func remove() throws(SystemCallError) {
        var failure: SystemCallError?
        for entry in entries.reversed() {
            let (path, isFolder) = (top + entry.path, entry.status.kind == .directory)
            do throws(SystemCallError) {
                try isFolder ? Platform.removeFolder(path) : Platform.removeFile(path)
            } catch {
                if !error.isAbsent { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
    }

    /// Copies the tree to a place where nothing stands, with owners, rights, extended attributes and times.
    ///
    /// `reach` gets each path before it is copied, and again after each part of it, with what that adds to the cost.
    func copy(to target: String, _ reach: ((_ path: String, _ cost: Int) throws -> Void)? = nil) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        var isCloning = true
        for entry in entries {
            let (path, copy) = (top + entry.path, target + entry.path)
            try reach?(path, Self.costOfEntry)
            switch entry.status.kind {
            case .directory: try Platform.makeDirectory(copy)
            case .link: try Platform.copyLink(path, to: copy, entry.status)
            case .file, .other:
                try Platform.copyFile(path, to: copy, buffer, isCloning: &isCloning) { try reach?(path, $0) }
            }
        }
        // Last, since each new file changes its folder's time, and a folder may take no file with the rights that it gets.
        for entry in entries.reversed() where entry.status.kind == .directory {
            try Platform.copyAttributes(ofFolder: top + entry.path, to: target + entry.path)
        }
    }
}

/// Syncs trees to disk: few files one by one, many by one call for all of their file system.
extension FileTree {
    /// Syncs what stands at these places, and in it, to disk.
    ///
    /// `lock` was taken before anything was written: its file witnesses the errors of its file system since. What lies on
    /// another file system, or on one of an untried kind, is synced file by file, but for databases in use, with `butDatabases`.
    static func synchronize(_ places: [String], by lock: FileLock, butDatabases: Bool = false)
        throws(SystemCallError)
    {
        var trees: [FileTree] = []
        for place in places { trees.append(try FileTree(place)) }
        let device = lock.identity.device
        let entries = trees.flatMap(\.entries)
        let files = entries.count { $0.status.kind == .file && $0.status.identity.device == device }
        // The call for all of a file system waits for what every other process has written there, which can be gigabytes. For
        // so few files the wait for each of them is the shorter one, and it is bounded. But it would open databases.
        var isFlushed = files > 32
        for tree in trees where butDatabases {
            for entry in tree.entries where !isFlushed { isFlushed = try isLocked(tree.top + entry.path) }
        }
        if isFlushed { isFlushed = try lock.flushFileSystem() }
        for tree in trees { try tree.synchronize(but: isFlushed ? device : nil, butDatabases) }
    }

    func synchronize(but synced: UInt64? = nil, _ butDatabases: Bool = false) throws(SystemCallError) {
        for entry in entries.reversed() where entry.status.identity.device != synced {
            if entry.status.kind != .directory, entry.status.kind != .file { continue }
            let path = top + entry.path
            if butDatabases, try Self.isLocked(path) { continue }
            _ = try Platform.unless(Platform.absent) { () throws(SystemCallError) in
                // A drive has one cache for everything: the top, which comes last, brings all the files through it.
                try Platform.synchronize(entry: path, throughCache: entry.path.isEmpty)
            }
        }
    }

    /// True for a file on which SQLite may have locks: who closes it takes them away (sqlite.org/howtocorrupt.html, 2.2).
    ///
    /// SQLite itself syncs what it commits.
    private static func isLocked(_ path: String) throws(SystemCallError) -> Bool {
        for end in Snapshot.companions.dropFirst() {
            if try Platform.companion(path + end) != nil { return true }
        }
        return Array(path.utf8.suffix(4)) == Array("-shm".utf8)
    }

    /// Syncs what stands at paths without links to disk, with what SQLite keeps beside it and the folders above.
    static func synchronizeWork(_ paths: [String], upTo stateFolder: String, by lock: FileLock)
        throws(SystemCallError)
    {
        try synchronize(paths.flatMap { path in Snapshot.companions.map { path + $0 } }, by: lock)
        for path in paths { try synchronizeFolders(from: FilePaths.parent(path), upTo: stateFolder) }
    }

    /// Makes the names in a folder durable, and the folder's own name in the one above, up to the folder that holds the
    /// state too: a change above that folder would have moved the state.
    static func synchronizeFolders(from folder: String, upTo stateFolder: String) throws(SystemCallError) {
        var folder = folder
        while true {
            do throws(SystemCallError) {
                try Platform.synchronizeDirectory(folder)
            } catch {
                // The folder above shows that a folder went, or became a file. A folder that this user may not
                // write to holds no name that the closure made or removed.
                if !error.isAbsent, try Platform.mayWrite(folder) { throw error.at(folder) }
            }
            if FilePaths.contains(folder, stateFolder) { return }
            folder = FilePaths.parent(folder)
        }
    }
}
