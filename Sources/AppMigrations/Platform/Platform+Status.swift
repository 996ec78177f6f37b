import AppMigrationsSystem

/// What is at a path, and its content.
extension Platform {
    /// The status of the item at a path; `nil` if there is none, or with `following` if a link leads to
    /// nothing.
    static func status(_ path: String, following: Bool = false) throws(SystemCallError) -> FileStatus? {
        try ignoringMissing(FileStatus(ofEntry: path, following: following))
    }

    /// The status of the item at a path; `nil` if there is none, or if the name is too long.
    ///
    /// It is for the names that SQLite would give to a database's companions: a database may have a name that
    /// is too long to add to.
    static func statusIfPresent(_ path: String) throws(SystemCallError) -> FileStatus? {
        try ignoring([ENAMETOOLONG], status(path)) ?? nil
    }

    /// The status of an entry of an open folder, by the bytes of its name and a NUL; `nil` if there is none,
    /// or if the name is too long.
    ///
    /// A link is not followed. `path` is for an error.
    static func statusIfPresent(
        _ name: [CChar],
        in folder: Int32 = AT_FDCWD,
        path: String
    ) throws(SystemCallError) -> FileStatus? {
        try ignoring(missingFile + [ENAMETOOLONG], FileStatus(of: name, in: folder, path: path))
    }

    /// True if something is at a path, even a link that leads to nothing.
    ///
    /// Most paths that this is asked about don't exist, so it makes no error object for them.
    @inline(never)
    static func exists(at path: String) throws(SystemCallError) -> Bool {
        var status = stat()
        while lstat(path, &status) != 0 {
            if missingFile.contains(errno) { return false }
            try throwUnlessInterrupted("lstat", at: path)
        }
        return true
    }

    /// The identity of a folder, with links followed; `nil` if it doesn't exist.
    static func identity(ofFolder path: String) throws(SystemCallError) -> FileIdentity? {
        try status(path, following: true)?.identity
    }

    /// The bytes of a regular file; `nil` for anything else, and for more than `limit` bytes.
    static func contents(ofFile path: String, limit: Int) throws(SystemCallError) -> [UInt8]? {
        let descriptor = try openToRead(path)
        defer { closeAfterReading(descriptor) }
        return try contents(ofOpen: descriptor, limit: limit)
    }

    /// The bytes of a regular file that a walk found; `nil` if it has been removed, or has more than `limit`
    /// bytes.
    static func contents(of entry: TreeWalk.Entry, limit: Int) throws(SystemCallError) -> [UInt8]? {
        guard let descriptor = try ignoringMissing(openFound(entry)) else { return nil }
        defer { closeAfterReading(descriptor) }
        return try contents(ofOpen: descriptor, limit: limit)
    }

    /// Opens an entry of a walk, to read it or to sync it.
    static func openFound(_ entry: TreeWalk.Entry) throws(SystemCallError) -> Int32 {
        let flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC
        return try opening(entry.path) { openat(entry.folder, entry.name, flags) }
    }

    package static func contents(ofOpen descriptor: Int32, limit: Int) throws(SystemCallError) -> [UInt8]? {
        let status = try FileStatus(ofOpen: descriptor)
        guard status.kind == .file, status.size <= limit else { return nil }
        var content: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try fill(buffer, of: descriptor)
            if count == 0 { return content }
            content += buffer[..<count]
            if content.count > limit { return nil }
        }
    }

    /// True if something is mounted at a path.
    ///
    /// Comparing devices is only the last resort: a Btrfs subvolume has a device of its own without being
    /// mounted, and a folder that is mounted in its own file system has the same device.
    static func isMountPoint(_ path: String, status: FileStatus) throws(SystemCallError) -> Bool {
        #if os(Linux)
        if let isMounted = isMountRoot(Array(path.utf8CString), in: AT_FDCWD) { return isMounted }
        #endif
        return try status.identity.device != identity(ofFolder: FilePaths.parent(path))?.device
    }

    /// True if something is mounted at an entry of a walk.
    static func isMountPoint(_ entry: TreeWalk.Entry) throws(SystemCallError) -> Bool {
        if entry.isTop { return try isMountPoint(entry.path, status: entry.status) }
        #if os(Linux)
        if let isMounted = isMountRoot(entry.name, in: entry.folder) { return isMounted }
        #endif
        let folder = try FileStatus(ofOpen: entry.folder, path: entry.path)
        return entry.status.identity.device != folder.identity.device
    }

    #if os(Linux)
    /// The answer of statx(2): bit 13 of the attributes, if bit 13 of their mask says that the kernel knows
    /// it; else `nil`.
    private static func isMountRoot(_ name: [CChar], in folder: Int32) -> Bool? {
        var words = [UInt64](repeating: 0, count: 32)
        if statx(folder, name, AT_SYMLINK_NOFOLLOW, 0, &words) != 0 || words[7] & 0x2000 == 0 { return nil }
        return words[1] & 0x2000 != 0
    }
    #endif
}
