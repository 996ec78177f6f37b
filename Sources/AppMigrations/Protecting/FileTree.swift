/// The thing at a path, with everything in it: listed once, then copied, synced or removed.
///
/// Links in a tree are never followed. The path to a tree's top is taken as it is, with the links of the folders that it leads through.
struct FileTree {
    final class Entry {
        let top: String
        /// The path from the top on: empty for the top itself, and else with a slash first.
        let below: String
        let status: FileStatus
        /// Ten thousand whole paths are megabytes of memory.
        var path: String { top + below }

        init(_ top: String, _ below: String, _ status: FileStatus) {
            (self.top, self.below, self.status) = (top, below, status)
        }
    }

    enum Use { case look, copy, remove }

    /// Each folder comes before what is in it; none where nothing stands at the top.
    private(set) var entries: [Entry] = []

    /// Lists what stands there; throws where it can't be used.
    init(_ top: String, to use: Use = .look) throws(SystemCallError) {
        try add(top, "", use)
        var index = 0
        while index < entries.count {
            let folder = entries[index]
            index += 1
            if folder.status.kind != .directory { continue }
            for name in try Platform.names(in: folder.path, strictly: true) {
                try add(top, folder.below + "/" + name, use)
            }
        }
    }

    /// Adds an entry before it is looked into.
    private mutating func add(_ top: String, _ below: String, _ use: Use) throws(SystemCallError) {
        let path = top + below
        // Another process may have removed it meanwhile, as a connection to a database removes files.
        let found = try below.isEmpty ? Platform.statusIfPresent(path) : Platform.status(path)
        guard let status = found else { return }
        let isFolder = status.kind == .directory
        // A protected folder that is a mount point is put back by its entries. A mounted file can't be removed (unlink(2)).
        let refusesMount = use == .remove ? isFolder : use == .copy && !(isFolder && below.isEmpty)
        if refusesMount, try Platform.isMountPoint(path, status) { throw Platform.mounted(path) }
        if use == .copy, status.kind == .other { throw Platform.unsupported(path) }
        if use == .remove { try Platform.openUp(path, status) }
        entries.append(Entry(top, below, status))
    }

    /// The state of a manager that is in the tree; `nil` where there is none.
    var state: String? {
        let suffix = StateLocation.suffix.description
        return entries.first { $0.status.kind == .file && $0.path.hasSuffix(suffix) }?.path
    }

    /// A file costs its calls and its bytes, so an entry counts like 4 KiB; the bytes of several can be more than an `Int` holds.
    var cost: Double {
        entries.reduce(0) { $0 + Self.costOfEntry + ($1.status.kind == .file ? Double($1.status.size) : 0) }
    }

    private static var costOfEntry: Double { 4_096 }

    func remove() throws(SystemCallError) {
        for entry in entries.reversed() {
            let isFolder = entry.status.kind == .directory
            _ = try Platform.unless(Platform.absent, Platform.remove(entry.path, isFolder: isFolder))
        }
    }

    /// Copies the tree to a place where nothing stands, with owners, rights, extended attributes and times.
    ///
    /// `reach` gets each path before it is copied, and again after each part of it, with what that adds to the cost.
    func copy(to target: String, _ reach: ((_ path: String, _ cost: Double) throws -> Void)? = nil) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        for entry in entries {
            let (path, copy) = (entry.path, target + entry.below)
            try reach?(path, Self.costOfEntry)
            switch entry.status.kind {
            case .directory: try Platform.makeDirectory(copy)
            case .link: try Platform.copyLink(path, to: copy, entry.status)
            case .file, .other:
                try Platform.copyFile(path, to: copy, buffer) { try reach?(path, Double($0)) }
            }
        }
        // Last, since each new file changes its folder's time, and a folder may take no file with the rights that it gets.
        for entry in entries.reversed() where entry.status.kind == .directory {
            try Platform.copyAttributes(ofFolder: entry.path, to: target + entry.below)
        }
    }

    /// Syncs what stands at these places, and in it, to disk: few files one by one, many by one call for all of their file system.
    ///
    /// `lock` was taken before anything was written: its file witnesses the errors of its file system since. What lies on
    /// another file system, or on one of an untried kind, is synced file by file, but for databases in use, with `butDatabases`.
    static func synchronize(_ places: [String], by lock: FileLock? = nil, butDatabases: Bool = false)
        throws(SystemCallError)
    {
        var entries: [Entry] = []
        for place in places { entries += try FileTree(place).entries.reversed() }
        let device = lock?.identity.device
        let files = entries.count { $0.status.kind == .file && $0.status.identity.device == device }
        // The call for all of a file system waits for what every other process has written there, which can be gigabytes. For
        // so few files the wait for each of them is the shorter one, and it is bounded. But it would open databases.
        var isFlushed = files > 32
        if butDatabases { for entry in entries where !isFlushed { isFlushed = try isLocked(entry.path) } }
        if isFlushed { isFlushed = try lock?.flushFileSystem() ?? false }
        for entry in entries where !isFlushed || entry.status.identity.device != device {
            let (path, isTop) = (entry.path, entry.below.isEmpty)
            if entry.status.kind != .directory, entry.status.kind != .file { continue }
            if butDatabases, try isLocked(path) { continue }
            // A drive has one cache for everything: the top, which comes last, brings all the files through it.
            _ = try Platform.unless(Platform.absent, Platform.synchronize(path, throughCache: isTop))
        }
    }

    /// True for a file on which SQLite may have locks: who closes it takes them away (sqlite.org/howtocorrupt.html, 2.2).
    ///
    /// SQLite itself syncs what it commits.
    private static func isLocked(_ path: String) throws(SystemCallError) -> Bool {
        for end in Snapshot.companions.dropFirst() {
            if try Platform.statusIfPresent(path + end) != nil { return true }
        }
        return Array(Array(path.utf8).suffix(4)) == Array("-shm".utf8)
    }

    /// Makes the names in a folder durable, and the folder's own name in the one above, up to the folder that holds the
    /// state too: a change above that folder would have moved the state.
    static func synchronizeFolders(from folder: String, upTo stateFolder: String) throws(SystemCallError) {
        var folder = folder
        while true {
            do throws(SystemCallError) {
                try Platform.synchronize(folder)
            } catch {
                // The folder above shows that a folder went, or became a file. A folder that this user may not
                // write to holds no name that the closure made or removed.
                if !error.isAbsent, try Platform.mayWrite(folder) { throw error }
            }
            if FilePaths.contains(folder, stateFolder) { return }
            folder = FilePaths.parent(folder)
        }
    }
}
