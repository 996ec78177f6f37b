/// The file, folder or link at a path, with everything in it: listed once, then copied.
///
/// All names must be UTF-8. Links inside the tree are not followed. Links in the folders above the top are.
struct FileTree {
    final class Entry {
        /// The path of the tree's top.
        let top: String

        /// The rest of the path: empty for the top itself, else it begins with a slash.
        let below: String

        let status: FileStatus

        /// Computed, because ten thousand stored paths would take megabytes of memory.
        var path: String { top + below }

        init(top: String, below: String, status: FileStatus) {
            self.top = top
            self.below = below
            self.status = status
        }
    }

    /// Each folder comes before its content.
    ///
    /// Empty if nothing exists at the top.
    private(set) var entries: [Entry] = []

    /// Lists the tree at a path.
    ///
    /// `check` gets each entry before the content of a folder is listed, and may throw to refuse it.
    init(at top: String, check: (Entry) throws -> Void = { _ in }) throws {
        if let status = try Platform.statusIfPresent(top) {
            try add(Entry(top: top, below: "", status: status), after: check)
        }
        // The array grows while its folders are listed.
        var index = 0
        while index < entries.count {
            let folder = entries[index]
            index += 1
            if folder.status.kind != .directory { continue }
            for name in try Platform.names(in: folder.path, strictly: true) {
                let below = folder.below + "/" + name
                // Another process may have removed it, as a connection to a database removes files.
                guard let status = try Platform.status(top + below) else { continue }
                try add(Entry(top: top, below: below, status: status), after: check)
            }
        }
    }

    private mutating func add(_ entry: Entry, after check: (Entry) throws -> Void) throws {
        try check(entry)
        entries.append(entry)
    }

    /// The amount of work that copying the tree takes, to report progress: its bytes, and 4 KiB for each
    /// entry because that takes system calls.
    ///
    /// It is a `Double`, because the bytes of several files can be more than an `Int` holds.
    var cost: Double {
        entries.reduce(0) { cost, entry in
            cost + Self.costOfEntry + (entry.status.kind == .file ? Double(entry.status.size) : 0)
        }
    }

    private static var costOfEntry: Double { 4_096 }

    /// Copies the tree to a path where nothing exists, with owners, permissions, extended attributes and
    /// times.
    ///
    /// `progress` gets each path before it is copied, and again after each part of a file, with the cost to
    /// add.
    func copy(
        to target: String,
        by copier: FileCopier,
        progress: ((_ path: String, _ cost: Double) throws -> Void)? = nil
    ) throws {
        for entry in entries {
            let path = entry.path
            let copy = target + entry.below
            try progress?(path, Self.costOfEntry)
            switch entry.status.kind {
            case .directory:
                try Platform.makeDirectory(copy)
            case .link:
                try Platform.copyLink(path, to: copy, status: entry.status)
            case .file, .socket, .fifo, .device:
                try copier.copy(path, to: copy) { count in try progress?(path, Double(count)) }
            }
        }
        // Folders come last: each new file changes its folder's time, and the permissions of a folder may
        // forbid new files.
        for entry in entries.reversed() where entry.status.kind == .directory {
            try Platform.copyAttributes(ofFolder: entry.path, to: target + entry.below)
        }
    }
}

/// Syncing trees to disk.
extension FileTree {
    /// With more files than this, one call for the whole file system is faster than a call for each file.
    ///
    /// That call waits for everything that every process has written there, which can be gigabytes. For few
    /// files, the calls for each of them take less time, and a time that has a bound.
    private static var fileCountForFlush: Int { 32 }

    /// Syncs the items at these paths, and everything in them, to disk.
    ///
    /// `flush` reports every error of writing to its file system since it was made. So it must be made before
    /// the files were written. Files on another file system, or on one where that isn't reliable, are synced
    /// one by one.
    ///
    /// With `butDatabases`, no file is opened that SQLite may have locked. Only `flush` syncs such files.
    static func synchronize(_ paths: [String], by flush: FileSystemFlush? = nil, butDatabases: Bool = false)
        throws(SystemCallError)
    {
        let device = flush?.device
        var fileCount = 0
        var isAnyElsewhere = false
        var isAnyLocked = false
        for path in paths {
            try TreeWalk.visit(path) { entry, moment throws(SystemCallError) in
                if moment == .leaving { return true }
                if entry.status.identity.device != device { isAnyElsewhere = true }
                if moment == .file {
                    if entry.status.kind == .file, entry.status.identity.device == device { fileCount += 1 }
                    if butDatabases, !isAnyLocked { isAnyLocked = try mayBeLocked(entry) }
                }
                return true
            }
        }
        var isFlushed = false
        if let flush, fileCount > fileCountForFlush || isAnyLocked { isFlushed = try flush.run() }
        if isFlushed, !isAnyElsewhere { return }
        for path in paths {
            try TreeWalk.visit(path) { entry, moment throws(SystemCallError) in
                if moment == .entering || isFlushed && entry.status.identity.device == device { return true }
                if moment == .file {
                    if entry.status.kind != .file { return true }
                    if butDatabases, try mayBeLocked(entry) { return true }
                }
                try Platform.synchronize(entry)
                return true
            }
        }
    }

    /// True for a file on which SQLite may have locks.
    ///
    /// If this process closed it, it would lose them (sqlite.org/howtocorrupt.html, 2.2).
    ///
    /// SQLite itself syncs the transactions that it commits.
    private static func mayBeLocked(_ entry: TreeWalk.Entry) throws(SystemCallError) -> Bool {
        let name = entry.name.dropLast()
        for suffix in Snapshot.companions.dropFirst() {
            let companion = name + Array(suffix.utf8CString)
            let path = entry.path + suffix
            let status = try Platform.statusIfPresent(Array(companion), in: entry.folder, path: path)
            if status != nil { return true }
        }
        return name.suffix(4).elementsEqual("-shm".utf8CString.dropLast())
    }

    /// Syncs a folder and the folders above it to disk, so that their names are durable.
    ///
    /// The last one is the folder that contains the state too. If a name above that changed, the state would
    /// be at another place as well.
    static func synchronizeFolders(from folder: String, upTo stateFolder: String) throws(SystemCallError) {
        var folder = folder
        while true {
            do throws(SystemCallError) {
                try Platform.synchronize(folder)
            } catch {
                // If the folder is missing, or is a file now, the sync of the folder above makes that
                // durable. In a folder that this user can't write to, the closure made and removed nothing.
                if !error.isMissingFile, try Platform.mayWrite(folder) { throw error }
            }
            if FilePaths.contains(folder, path: stateFolder) { return }
            folder = FilePaths.parent(folder)
        }
    }
}
