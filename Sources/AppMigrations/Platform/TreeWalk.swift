import AppMigrationsSystem

/// Visits an item and everything inside it, by the descriptors of folders instead of by paths.
///
/// A migration's closure may create names that aren't UTF-8, which no `String` can hold, and nested folders
/// whose paths are longer than the system allows. A walk reaches all of them, and has few descriptors open at
/// a time. It follows no link inside the item, but links in the item's own path.
struct TreeWalk: ~Copyable {
    struct Entry {
        /// The descriptor of the folder that contains the entry, for calls such as `openat`.
        let folder: Int32

        /// The entry's name in that folder, as a NUL-terminated C string; for the top of the walk, its path.
        let name: [CChar]

        /// The entry's path for messages: bytes that aren't UTF-8 are replaced.
        let path: String
        let status: FileStatus
        let isTop: Bool

        /// The open descriptor of the entry, if it is a folder that the walk is leaving; otherwise `nil`.
        fileprivate(set) var descriptor: Int32?
    }

    /// The moment at which the walk calls its visitor.
    enum Moment {
        /// The walk visits an entry that isn't a folder.
        case file

        /// Before a folder is opened. The visitor returns whether to enter the folder.
        case entering

        /// After everything in a folder was visited.
        case leaving
    }

    /// Is called for each entry.
    ///
    /// At the moment `entering`, it returns whether to enter the folder. At other moments, its result is
    /// ignored.
    typealias Visitor = (Entry, Moment) throws(SystemCallError) -> Bool

    private struct Level {
        var entry: Entry
        /// The descriptor of the folder; `nil` while it is closed, because ``limit`` folders inside it are
        /// open.
        var descriptor: Int32?
        var names: [[CChar]]
    }

    /// The largest number of nested folders that stay open at a time.
    private static var limit: Int { 32 }

    private let visitor: Visitor
    private var levels: [Level] = []

    private init(_ visitor: @escaping Visitor) { self.visitor = visitor }

    deinit {
        for level in levels {
            if let descriptor = level.descriptor { Platform.closeAfterReading(descriptor) }
        }
    }

    /// Visits the item at a path, if there is one, and everything in it.
    static func visit(_ path: String, _ visitor: Visitor) throws(SystemCallError) {
        let bytes = Array(path.utf8CString)
        guard let status = try Platform.statusIfPresent(bytes, path: path) else { return }
        let top = Entry(folder: AT_FDCWD, name: bytes, path: path, status: status, isTop: true)
        if status.kind != .directory {
            _ = try visitor(top, .file)
            return
        }
        let result = withoutActuallyEscaping(visitor) { visitor in
            Result { () throws(SystemCallError) in
                var walk = TreeWalk(visitor)
                try walk.enter(top)
                while try walk.step() {}
            }
        }
        try result.get()
    }

    /// Visits the next entry of the innermost folder, or leaves the folder after its last entry.
    ///
    /// - Returns: False at the end of the walk.
    private mutating func step() throws(SystemCallError) -> Bool {
        guard let level = levels.last, let folder = level.descriptor else { return false }
        guard let name = levels[levels.count - 1].names.popLast() else {
            try leave()
            return true
        }
        let path = level.entry.path + "/" + Platform.readable(name)
        // Skip an entry that another process has removed since the folder was read. For example, SQLite
        // removes files when a connection to a database is closed.
        guard let status = try Platform.statusIfPresent(name, in: folder, path: path) else { return true }
        let entry = Entry(folder: folder, name: name, path: path, status: status, isTop: false)
        if status.kind == .directory { try enter(entry) } else { _ = try visitor(entry, .file) }
        return true
    }

    private mutating func enter(_ entry: Entry) throws(SystemCallError) {
        if try !visitor(entry, .entering) { return }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let descriptor = try Platform.opening(entry.path) { openat(entry.folder, entry.name, flags) }
        levels.append(Level(entry: entry, descriptor: descriptor, names: []))
        levels[levels.count - 1].names = try Platform.nameBytes(inOpen: descriptor, path: entry.path)
        let indexToClose = levels.count - 1 - Self.limit
        if indexToClose >= 0, let descriptor = levels[indexToClose].descriptor {
            levels[indexToClose].descriptor = nil
            Platform.closeAfterReading(descriptor)
        }
    }

    private mutating func leave() throws(SystemCallError) {
        guard let level = levels.popLast(), let descriptor = level.descriptor else { return }
        defer { Platform.closeAfterReading(descriptor) }
        let folder = try folder(above: descriptor)
        var entry = Entry(
            folder: folder,
            name: level.entry.name,
            path: level.entry.path,
            status: level.entry.status,
            isTop: level.entry.isTop
        )
        entry.descriptor = descriptor
        _ = try visitor(entry, .leaving)
    }

    /// The descriptor of the folder that contains the folder that the walk is leaving.
    ///
    /// If it was closed, it is opened again as ".." of the inner folder.
    private mutating func folder(above inner: Int32) throws(SystemCallError) -> Int32 {
        guard let level = levels.last else { return AT_FDCWD }
        if let descriptor = level.descriptor { return descriptor }
        let path = level.entry.path
        let opened = try Platform.opening(path) { openat(inner, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        levels[levels.count - 1].descriptor = opened
        // Another process may have moved the inner folder, so that ".." is another folder.
        if try FileStatus(ofOpen: opened, path: path).identity != level.entry.status.identity {
            throw SystemCallError.foreign(path)
        }
        return opened
    }
}
