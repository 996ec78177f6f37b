/// The file, folder or link at a path, with everything in it: listed once, then copied.
///
/// All names must be UTF-8.
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
            self.top = top
            self.below = below
            self.status = status
        }
    }

    /// Each folder comes before what is in it; none if nothing is at the top.
    private(set) var entries: [Entry] = []

    /// Lists what is at a path and in it; `check` gets each entry before a folder is looked into, and may refuse it.
    init(_ top: String, check: (Entry) throws -> Void = { _ in }) throws {
        try add(top, "", check)
        var index = 0
        while index < entries.count {
            let folder = entries[index]
            index += 1
            if folder.status.kind != .directory { continue }
            for name in try Platform.names(in: folder.path, strictly: true) {
                try add(top, folder.below + "/" + name, check)
            }
        }
    }

    /// Adds an entry before what is in it is listed.
    private mutating func add(_ top: String, _ below: String, _ check: (Entry) throws -> Void) throws {
        let path = top + below
        // Another process may have removed it meanwhile, as a connection to a database removes files.
        let found = try below.isEmpty ? Platform.statusIfPresent(path) : Platform.status(path)
        guard let status = found else { return }
        let entry = Entry(top, below, status)
        try check(entry)
        entries.append(entry)
    }

    /// A file costs its calls and its bytes, so an entry counts like 4 KiB; the bytes of several can be more than an `Int` holds.
    var cost: Double {
        entries.reduce(0) { $0 + Self.costOfEntry + ($1.status.kind == .file ? Double($1.status.size) : 0) }
    }

    private static var costOfEntry: Double { 4_096 }

    /// Copies the tree to a place where nothing stands, with owners, rights, extended attributes and times.
    ///
    /// `reach` gets each path before it is copied, and again after each part of it, with what that adds to the cost.
    func copy(
        to target: String,
        by copier: FileCopier,
        _ reach: ((_ path: String, _ cost: Double) throws -> Void)? = nil
    ) throws {
        for entry in entries {
            let path = entry.path
            let copy = target + entry.below
            try reach?(path, Self.costOfEntry)
            switch entry.status.kind {
            case .directory:
                try Platform.makeDirectory(copy)
            case .link:
                try Platform.copyLink(path, to: copy, entry.status)
            case .file, .socket, .fifo, .device:
                try copier.copy(path, to: copy) { count in try reach?(path, Double(count)) }
            }
        }
        // Last, since each new file changes its folder's time, and a folder may take no file with the rights that it gets.
        for entry in entries.reversed() where entry.status.kind == .directory {
            try Platform.copyAttributes(ofFolder: entry.path, to: target + entry.below)
        }
    }

    /// Syncs what is at these places, and in it, to disk: few files one by one, many by one call for all of their file system.
    ///
    /// `flush` was made before anything was written: its file witnesses the errors of its file system since. What lies on
    /// another file system, or on one of an untried kind, is synced file by file, except databases in use, with `butDatabases`.
    static func synchronize(_ places: [String], by flush: FileSystemFlush? = nil, butDatabases: Bool = false)
        throws(SystemCallError)
    {
        let device = flush?.device
        var files = 0
        var isAnyElsewhere = false
        var isAnyLocked = false
        for place in places {
            try TreeWalk.visit(place) { entry, moment throws(SystemCallError) in
                if moment == .leaving { return true }
                if entry.status.identity.device != device { isAnyElsewhere = true }
                if moment == .file {
                    if entry.status.kind == .file, entry.status.identity.device == device { files += 1 }
                    if butDatabases, !isAnyLocked { isAnyLocked = try isLocked(entry) }
                }
                return true
            }
        }
        // The call for all of a file system waits for what every other process has written there, which can be gigabytes. For
        // so few files the wait for each of them is the shorter one, and it is bounded. But it would open databases.
        var isFlushed = files > 32 || isAnyLocked
        if isFlushed { isFlushed = try flush?.run() ?? false }
        if isFlushed, !isAnyElsewhere { return }
        for place in places {
            try TreeWalk.visit(place) { entry, moment throws(SystemCallError) in
                if moment == .entering || isFlushed && entry.status.identity.device == device { return true }
                if moment == .file {
                    if entry.status.kind != .file { return true }
                    if butDatabases, try isLocked(entry) { return true }
                }
                try Platform.synchronize(entry)
                return true
            }
        }
    }

    /// True for a file on which SQLite may have locks: who closes it takes them away (sqlite.org/howtocorrupt.html, 2.2).
    ///
    /// SQLite itself syncs what it commits.
    private static func isLocked(_ entry: TreeWalk.Entry) throws(SystemCallError) -> Bool {
        let name = entry.name.dropLast()
        for end in Snapshot.companions.dropFirst() {
            let companion = name + Array(end.utf8CString)
            if try Platform.statusIfPresent(Array(companion), in: entry.folder, entry.path + end) != nil {
                return true
            }
        }
        return name.suffix(4).elementsEqual("-shm".utf8CString.dropLast())
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
