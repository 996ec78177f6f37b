import AppMigrationsSystem

/// A walk through the item at a path and everything in it, by the descriptors of folders instead of by paths.
///
/// A closure may leave names that are not UTF-8, which no text can express, and nested folders that are
/// deeper than any path can be. A walk reaches all of them, with few descriptors open at a time. It follows
/// no link, except in the folders above the top.
struct TreeWalk: ~Copyable {
    struct Entry {
        /// The descriptor of the folder that the entry is in, for calls such as `openat`.
        let folder: Int32
        /// The bytes of its name in that folder, and a NUL.
        ///
        /// For the top, the bytes of its path.
        let name: [CChar]
        /// Its path for people.
        ///
        /// Bytes that are not UTF-8 are replaced.
        let path: String
        let status: FileStatus
        let isTop: Bool
        /// The descriptor of a folder that the walk leaves; `nil` for everything else.
        fileprivate(set) var descriptor: Int32?
    }

    enum Moment {
        /// The entry isn't a folder.
        case file

        /// Before a folder is opened. The visitor returns whether to enter it.
        case entering

        /// After everything in a folder.
        case leaving
    }

    /// Returns whether to enter a folder.
    ///
    /// At other moments the result is ignored.
    typealias Visitor = (Entry, Moment) throws(SystemCallError) -> Bool

    private struct Level {
        var entry: Entry
        /// `nil` while ``limit`` folders below it are open.
        var descriptor: Int32?
        var names: [[CChar]]
    }

    /// How many nested folders are open at a time.
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
        try visit(Array(path.utf8CString), path: path, visitor)
    }

    /// Visits the item at a path of any bytes, and a NUL.
    ///
    /// `path` is that path for people.
    static func visit(_ bytes: [CChar], path: String, _ visitor: Visitor) throws(SystemCallError) {
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

    /// Visits the next entry of the innermost folder, or leaves that folder; false if the walk is over.
    private mutating func step() throws(SystemCallError) -> Bool {
        guard let level = levels.last, let folder = level.descriptor else { return false }
        guard let name = levels[levels.count - 1].names.popLast() else {
            try leave()
            return true
        }
        let path = level.entry.path + "/" + Platform.readable(name)
        // Another process may have removed it, as a connection to a database removes files.
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
        let last = levels.count - 1 - Self.limit
        if last >= 0, let descriptor = levels[last].descriptor {
            levels[last].descriptor = nil
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

    /// The descriptor of the folder that the walk came from.
    ///
    /// If it was closed, it is opened again.
    private mutating func folder(above inner: Int32) throws(SystemCallError) -> Int32 {
        guard let level = levels.last else { return AT_FDCWD }
        if let descriptor = level.descriptor { return descriptor }
        let path = level.entry.path
        let opened = try Platform.opening(path) { openat(inner, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        levels[levels.count - 1].descriptor = opened
        // Somebody may have moved the inner folder to another place.
        if try FileStatus(ofOpen: opened, path: path).identity != level.entry.status.identity {
            throw SystemCallError.foreign(path)
        }
        return opened
    }
}
