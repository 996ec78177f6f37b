/// A file, a folder or a link, and everything inside a folder.
///
/// The tree is listed once, when the value is created. A copy then works from that list.
///
/// All names must be UTF-8. Links inside the tree are not followed, but links in the folders above its top
/// are.
struct FileTree: Sendable {
    final class Entry: Sendable {
        /// The path of the tree's top.
        let top: String

        /// The part of the path after `top`: empty for the top itself, and otherwise beginning with a slash.
        let below: String

        let status: FileStatus

        /// The path of the entry.
        ///
        /// It is computed and not stored, because ten thousand paths would take megabytes of memory.
        var path: String { top + below }

        init(top: String, below: String, status: FileStatus) {
            self.top = top
            self.below = below
            self.status = status
        }
    }

    /// The entries of the tree, each folder before its contents; empty if nothing exists at the top's path.
    private(set) var entries: [Entry] = []

    /// Lists the tree at a path.
    ///
    /// `check` is called for each entry. For a folder, it is called before the folder's contents are listed.
    /// If `check` throws, the listing stops and this initializer throws the same error.
    init(at top: String, check: (Entry) throws -> Void = { _ in }) throws {
        if let status = try Platform.statusIfPresent(top) {
            try add(Entry(top: top, below: "", status: status), after: check)
        }
        // Listing a folder appends its contents, so the array grows during this loop.
        var index = 0
        while index < entries.count {
            let folder = entries[index]
            index += 1
            if folder.status.kind != .directory { continue }
            for name in try Platform.names(in: folder.path) {
                let below = folder.below + "/" + name
                // If another process has removed the entry since the folder was read, this throws. Nobody may
                // write to the tree, and an entry that can't be found now may exist all the same.
                let status = try FileStatus(ofEntry: top + below)
                try add(Entry(top: top, below: below, status: status), after: check)
            }
        }
    }

    private mutating func add(_ entry: Entry, after check: (Entry) throws -> Void) throws {
        try check(entry)
        entries.append(entry)
    }

    /// The amount of work that copying the tree takes, to report progress.
    ///
    /// It is the number of bytes in all files, plus 4 KiB for the system calls that copying each entry takes.
    /// It is a `Double`, because the sizes of several files can add up to more than `Int.max`.
    var cost: Double {
        entries.reduce(0) { cost, entry in
            cost + Self.costOfEntry + (entry.status.kind == .file ? Double(entry.status.size) : 0)
        }
    }

    private static var costOfEntry: Double { 4_096 }

    /// Copies the tree to `target`, where nothing may exist.
    ///
    /// Owners, permissions, extended attributes and times are copied too.
    ///
    /// `progress` is called before each entry is copied, and again after each part of a file. It receives the
    /// path of the entry and the cost to add to the total so far.
    func copy(
        to target: String,
        by copier: FileCopier,
        progress: (_ path: String, _ cost: Double) throws -> Void
    ) throws {
        for entry in entries {
            let path = entry.path
            let copy = target + entry.below
            try progress(path, Self.costOfEntry)
            switch entry.status.kind {
            case .directory:
                try Platform.makeDirectory(copy)
            case .link:
                try Platform.copyLink(path, to: copy, status: entry.status)
            case .file, .socket, .fifo, .device:
                try copier.copy(path, to: copy) { count in try progress(path, Double(count)) }
            }
        }
        // The attributes of folders are copied last: a new file changes the time of its folder, and the
        // copied permissions may forbid new files in the folder.
        for entry in entries.reversed() where entry.status.kind == .directory {
            try Platform.copyAttributes(ofFolder: entry.path, to: target + entry.below)
        }
    }
}

/// Syncing trees to disk.
extension FileTree {
    /// With more files than this, syncing the whole file system is faster than syncing each file.
    ///
    /// A sync of the whole file system waits for everything that any process has written to it, which can be
    /// gigabytes. For a few files, syncing each of them is faster, and the time that it takes is bounded.
    private static var fileCountForFlush: Int { 32 }

    /// Syncs the items at these paths, and everything in them, to disk.
    ///
    /// Create `flush` before you write the files: it reports only write errors that happen on its file system
    /// after it was created. Files are synced one by one if they are on another file system, or if `flush`
    /// isn't reliable on their file system.
    ///
    /// If `excludingDatabases` is true, this function opens no file on which SQLite may hold locks. Only
    /// `flush` syncs such files.
    static func synchronize(
        _ paths: [String],
        by flush: FileSystemFlush? = nil,
        excludingDatabases: Bool = false
    ) throws(SystemCallError) {
        let device = flush?.device
        var fileCount = 0
        var isAnyOnOtherDevice = false
        var isAnyLocked = false
        for path in paths {
            try TreeWalk.visit(path) { entry, moment throws(SystemCallError) in
                if moment == .leaving { return true }
                if entry.status.identity.device != device { isAnyOnOtherDevice = true }
                if moment == .file {
                    if entry.status.kind == .file, entry.status.identity.device == device { fileCount += 1 }
                    if excludingDatabases, !isAnyLocked { isAnyLocked = try mayBeLocked(entry) }
                }
                return true
            }
        }
        var isFlushed = false
        if let flush, fileCount > fileCountForFlush || isAnyLocked { isFlushed = try flush.run() }
        if isFlushed, !isAnyOnOtherDevice { return }
        for path in paths {
            try TreeWalk.visit(path) { entry, moment throws(SystemCallError) in
                if moment == .entering || isFlushed && entry.status.identity.device == device { return true }
                if moment == .file {
                    if entry.status.kind != .file { return true }
                    if excludingDatabases, try mayBeLocked(entry) { return true }
                }
                try Platform.synchronize(entry)
                return true
            }
        }
    }

    /// True if SQLite may hold locks on a file, so that this process must not open it.
    ///
    /// If this process opened and closed such a file, SQLite would lose all locks that it holds on the file
    /// in this process (sqlite.org/howtocorrupt.html, 2.2). Not syncing the file is safe, because SQLite
    /// syncs each transaction itself when it commits it.
    ///
    /// This is true if the file's name ends with `-shm`, or if one of SQLite's files (`-wal`, `-shm` or
    /// `-journal`) is next to the file.
    private static func mayBeLocked(_ entry: TreeWalk.Entry) throws(SystemCallError) -> Bool {
        let name = entry.name.dropLast()
        for suffix in ["-wal", "-shm", "-journal"] {
            let companion = name + Array(suffix.utf8CString)
            let path = entry.path + suffix
            let status = try Platform.statusIfPresent(Array(companion), in: entry.folder, path: path)
            if status != nil { return true }
        }
        return name.suffix(4).elementsEqual("-shm".utf8CString.dropLast())
    }

    /// Syncs folders and the folders above them to disk, so that the names in them are durable.
    ///
    /// This syncs each folder in `folders` and the folders above it, up to the first one that also contains
    /// the state directory. A folder above several of `folders` is synced only once.
    ///
    /// Folders further up need no sync. If a power failure undoes the creation of such a folder, the state is
    /// lost together with the files. So no state is left that says that a migration has changed the files.
    static func synchronizeFolders(
        from folders: [String],
        upTo stateFolder: String
    ) throws(SystemCallError) {
        // The set contains bytes, because two equal strings can be different names: `==` ignores how their
        // characters are composed (Unicode normalization).
        var synced: Set<[UInt8]> = []
        for start in folders {
            var folder = start
            while synced.insert(Array(folder.utf8)).inserted {
                try synchronizeIfWritable(folder)
                if FilePaths.contains(folder, path: stateFolder) { break }
                folder = FilePaths.parent(folder)
            }
        }
    }

    /// Syncs a folder, unless it doesn't exist or this user can't write to it.
    private static func synchronizeIfWritable(_ folder: String) throws(SystemCallError) {
        do throws(SystemCallError) {
            try Platform.synchronize(folder)
        } catch {
            // The error is ignored in two cases. If the folder was removed or replaced with a file, the sync
            // of its parent folder makes that durable. If this user can't write to the folder, the
            // migration's closure can't have created or removed anything in it.
            if !error.isMissingFile, try Platform.refusalOfWriting(folder) == nil { throw error }
        }
    }
}
