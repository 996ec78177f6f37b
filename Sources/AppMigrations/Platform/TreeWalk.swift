import AppMigrationsSystem

/// A walk through the thing at a path and everything in it, by the descriptors of the folders instead of by paths.
///
/// A closure may leave names that are not UTF-8, which no text can hold, and folders in each other that are deeper than any path
/// reaches. A walk gets to all of them, with few descriptors open at a time. It follows no link, except in the path to the top.
struct TreeWalk: ~Copyable {
    struct Entry {
        /// The descriptor of the folder that the entry is in, for the calls whose names end in `at`.
        let folder: Int32
        /// The bytes of its name in that folder, and a NUL; for the top, those of its path.
        let name: [CChar]
        /// Its path for people: bytes that are not UTF-8 are replaced.
        let path: String
        let status: FileStatus
        let isTop: Bool
        /// The descriptor of a folder that is being left; `nil` for everything else.
        fileprivate(set) var descriptor: Int32?
    }

    enum Moment {
        case file
        /// Before a folder is opened; what the visitor returns then says whether it is entered.
        case entering
        /// After everything in a folder.
        case leaving
    }

    /// Returns whether a folder is entered; for other moments it doesn't matter.
    typealias Visitor = (Entry, Moment) throws(SystemCallError) -> Bool

    private struct Level {
        var entry: Entry
        /// `nil` while more than ``limit`` folders below it are open.
        var descriptor: Int32?
        var names: [[CChar]]
    }

    /// How many folders in each other are open at a time.
    private static var limit: Int { 32 }

    private let visitor: Visitor
    private var levels: [Level] = []

    private init(_ visitor: @escaping Visitor) { self.visitor = visitor }

    deinit {
        for level in levels {
            if let descriptor = level.descriptor { Platform.closeAfterReading(descriptor) }
        }
    }

    /// Visits the thing at a path, if there is one, and everything in it.
    static func visit(_ path: String, _ visitor: Visitor) throws(SystemCallError) {
        try visit(Array(path.utf8CString), path, visitor)
    }

    /// Visits the thing at a path of any bytes, with a NUL at their end; `text` is that path for people.
    static func visit(_ path: [CChar], _ text: String, _ visitor: Visitor) throws(SystemCallError) {
        guard let status = try Platform.statusIfPresent(path, in: AT_FDCWD, text) else { return }
        let top = Entry(folder: AT_FDCWD, name: path, path: text, status: status, isTop: true)
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

    /// Visits the next entry of the innermost folder, or leaves it; false if the walk is over.
    private mutating func step() throws(SystemCallError) -> Bool {
        guard let level = levels.last, let folder = level.descriptor else { return false }
        guard let name = levels[levels.count - 1].names.popLast() else {
            try leave()
            return true
        }
        let path = level.entry.path + "/" + Platform.readable(name)
        // Another process may have removed it, as a connection to a database removes files.
        guard let status = try Platform.statusIfPresent(name, in: folder, path) else { return true }
        let entry = Entry(folder: folder, name: name, path: path, status: status, isTop: false)
        if status.kind == .directory { try enter(entry) } else { _ = try visitor(entry, .file) }
        return true
    }

    private mutating func enter(_ entry: Entry) throws(SystemCallError) {
        if try !visitor(entry, .entering) { return }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let descriptor = try Platform.opening(entry.path) { openat(entry.folder, entry.name, flags) }
        levels.append(Level(entry: entry, descriptor: descriptor, names: []))
        levels[levels.count - 1].names = try Platform.nameBytes(inOpen: descriptor, entry.path)
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

    /// The open folder that an inner one was entered from, which is opened again if it was closed.
    private mutating func folder(above inner: Int32) throws(SystemCallError) -> Int32 {
        guard let level = levels.last else { return AT_FDCWD }
        if let descriptor = level.descriptor { return descriptor }
        let path = level.entry.path
        let opened = try Platform.opening(path) { openat(inner, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        levels[levels.count - 1].descriptor = opened
        // Somebody may have moved the inner folder to another place.
        if try FileStatus(opened, path).identity != level.entry.status.identity {
            throw Platform.foreign(path)
        }
        return opened
    }
}

extension Platform {
    /// The status of an entry of an open folder, itself if it is a link; `nil` if there is none, or if the name is too long.
    ///
    /// `path` is for an error.
    static func statusIfPresent(
        _ name: [CChar],
        in folder: Int32 = AT_FDCWD,
        _ path: String
    ) throws(SystemCallError) -> FileStatus? {
        try unless(absent + [ENAMETOOLONG], FileStatus(of: name, in: folder, path))
    }

    /// Removes the thing at a path and everything in it, as far as that is possible; then throws the first error, if there was one.
    ///
    /// It enters nothing that is mounted.
    static func removeTree(_ path: String) throws(SystemCallError) {
        try removeTree(Array(path.utf8CString), path)
    }

    static func removeTree(_ path: [CChar], _ text: String) throws(SystemCallError) {
        var failure: SystemCallError?
        try TreeWalk.visit(path, text) { entry, moment throws(SystemCallError) in
            do throws(SystemCallError) {
                switch moment {
                case .file:
                    try remove(entry, isFolder: false)
                case .entering:
                    // A mounted file can't be removed (unlink(2)).
                    if try isMountPoint(entry) { throw mounted(entry.path) }
                    try makeWritable(entry)
                case .leaving where failure == nil:
                    try remove(entry, isFolder: true)
                case .leaving:
                    // Something is still in it, or in a folder beside it.
                    _ = try unless([ENOTEMPTY, EEXIST], remove(entry, isFolder: true))
                }
                return true
            } catch {
                if failure == nil { failure = error }
                return false
            }
        }
        if let failure { throw failure }
    }

    private static func remove(_ entry: TreeWalk.Entry, isFolder: Bool) throws(SystemCallError) {
        do throws(SystemCallError) {
            try removeNow(entry, isFolder: isFolder)
        } catch {
            // A closure can make its files immutable, and a user can, in the Finder.
            guard error.errorNumber == EPERM, makeMutable(entry) else { throw error }
            try removeNow(entry, isFolder: isFolder)
        }
    }

    private static func removeNow(_ entry: TreeWalk.Entry, isFolder: Bool) throws(SystemCallError) {
        let flags = isFolder ? AT_REMOVEDIR : 0
        _ = try unless(
            absent,
            retrying(isFolder ? "rmdir" : "unlink", entry.path) { unlinkat(entry.folder, entry.name, flags) }
        )
    }

    static func makeWritable(_ entry: TreeWalk.Entry) throws(SystemCallError) {
        let permissions = entry.status.permissions
        if entry.status.kind != .directory || permissions & 0o700 == 0o700 { return }
        _ = try retrying("chmod", entry.path) {
            fchmodat(entry.folder, entry.name, mode_t(permissions | 0o700), 0)
        }
    }

    /// Lets an entry, and the folder that it is in, be changed, if they are immutable or append-only and this user may change that; true
    /// if something was changed.
    private static func makeMutable(_ entry: TreeWalk.Entry) -> Bool {
        let isChanged = makeMutable(entry.name, in: entry.folder)
        // The top's own folder is not part of the tree.
        return !entry.isTop && makeMutable(entry.folder) || isChanged
    }

    /// The same for the thing at a path of any bytes, with a NUL at their end, and not for its folder.
    static func makeMutable(_ path: [CChar], in folder: Int32 = AT_FDCWD) -> Bool {
        let descriptor = openat(folder, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)
        if descriptor < 0 { return false }
        defer { closeAfterReading(descriptor) }
        return makeMutable(descriptor)
    }

    private static func makeMutable(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        var status = stat()
        let mask = UInt32(UF_IMMUTABLE | UF_APPEND | SF_IMMUTABLE | SF_APPEND)
        if fstat(descriptor, &status) != 0 || status.st_flags & mask == 0 { return false }
        return fchflags(descriptor, status.st_flags & ~mask) == 0
        #else
        // ioctl_iflags(2): FS_IOC_GETFLAGS and FS_IOC_SETFLAGS, whose numbers have the size of a `long`.
        let size = UInt(MemoryLayout<Int>.size) << 16
        var flags = [CInt](repeating: 0, count: 2)
        let isRead = flags.withUnsafeMutableBytes { bytes in
            ioctl(descriptor, 0x8000_6601 | size, bytes.baseAddress.unsafelyUnwrapped) == 0
        }
        // FS_APPEND_FL and FS_IMMUTABLE_FL
        if !isRead || flags[0] & 0x30 == 0 { return false }
        flags[0] &= ~0x30
        return flags.withUnsafeMutableBytes { bytes in
            ioctl(descriptor, 0x4000_6602 | size, bytes.baseAddress.unsafelyUnwrapped) == 0
        }
        #endif
    }
}
