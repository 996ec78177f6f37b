import AppMigrationsSystem

/// The status and the content of the item at a path.
extension Platform {
    /// The status of the item at a path; `nil` if there is no item.
    ///
    /// If `following` is true, a link is followed, and the status is also `nil` if its target doesn't exist.
    static func status(_ path: String, following: Bool = false) throws(SystemCallError) -> FileStatus? {
        try ignoringMissing(FileStatus(ofEntry: path, following: following))
    }

    /// The status of the item at a path; `nil` if there is no item, or if the name is too long.
    ///
    /// A database can have a name that is so long that a companion file, whose name has a suffix, can't
    /// exist. The system then returns `ENAMETOOLONG`.
    static func statusIfPresent(_ path: String) throws(SystemCallError) -> FileStatus? {
        try ignoring([ENAMETOOLONG], status(path)) ?? nil
    }

    /// The status of an entry of an open folder; `nil` if there is no such entry, or if the name is too long.
    ///
    /// The name is a NUL-terminated C string. A link isn't followed. `path` is the path in error messages.
    static func statusIfPresent(
        _ name: [CChar],
        in folder: Int32 = AT_FDCWD,
        path: String
    ) throws(SystemCallError) -> FileStatus? {
        try ignoring(missingFile + [ENAMETOOLONG], FileStatus(of: name, in: folder, path: path))
    }

    /// True if something is at a path, even a link whose target doesn't exist.
    ///
    /// Most paths that are checked don't exist. So this doesn't use ``status(_:following:)``, which makes an
    /// error object for each of them.
    @inline(never)
    static func exists(at path: String) throws(SystemCallError) -> Bool {
        var status = stat()
        while lstat(path, &status) != 0 {
            if missingFile.contains(errno) { return false }
            try throwUnlessInterrupted("lstat", at: path)
        }
        return true
    }

    /// The identity of the folder at a path, or to which a link at the path leads; `nil` if it doesn't exist.
    static func identity(ofFolder path: String) throws(SystemCallError) -> FileIdentity? {
        try status(path, following: true)?.identity
    }

    /// The bytes of a regular file; `nil` if the item isn't a regular file, or has more than `limit` bytes.
    static func contents(ofFile path: String, limit: Int) throws(SystemCallError) -> [UInt8]? {
        let descriptor = try openToRead(path)
        defer { closeAfterReading(descriptor) }
        return try contents(ofOpen: descriptor, limit: limit)
    }

    /// Opens an entry that a ``TreeWalk`` visits, to read it or to sync it.
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
    /// If the kernel doesn't say whether the path is a mount point, its device is compared with the device of
    /// its parent folder. That is less reliable: a Btrfs subvolume has its own device without being mounted,
    /// and a folder that is bind-mounted inside its own file system has the same device as its parent folder.
    static func isMountPoint(_ path: String, status: FileStatus) throws(SystemCallError) -> Bool {
        #if os(Linux)
        if let isMounted = isMountRoot(Array(path.utf8CString), in: AT_FDCWD) { return isMounted }
        #endif
        return try status.identity.device != identity(ofFolder: FilePaths.parent(path))?.device
    }

    /// True if something is mounted at an entry that a ``TreeWalk`` visits.
    static func isMountPoint(_ entry: TreeWalk.Entry) throws(SystemCallError) -> Bool {
        if entry.isTop { return try isMountPoint(entry.path, status: entry.status) }
        #if os(Linux)
        if let isMounted = isMountRoot(entry.name, in: entry.folder) { return isMounted }
        #endif
        let folder = try FileStatus(ofOpen: entry.folder, path: entry.path)
        return entry.status.identity.device != folder.identity.device
    }

    /// True if a file or folder is encrypted (fscrypt), and the folder above it isn't; false if the kernel
    /// doesn't say.
    static func isEncryptedAlone(_ path: String) -> Bool {
        #if os(Linux)
        // STATX_ATTR_ENCRYPTED
        let bit: UInt64 = 0x800
        let isEncrypted = attribute(bit, of: Array(path.utf8CString), in: AT_FDCWD) ?? false
        if !isEncrypted { return false }
        return attribute(bit, of: Array(FilePaths.parent(path).utf8CString), in: AT_FDCWD) == false
        #else
        return false
        #endif
    }

    #if os(Linux)
    /// True if statx(2) says that an item is the root of a mount; `nil` if the kernel doesn't say.
    private static func isMountRoot(_ name: [CChar], in folder: Int32) -> Bool? {
        // STATX_ATTR_MOUNT_ROOT
        attribute(0x2000, of: name, in: folder)
    }

    /// True if an item has an attribute of statx(2), which is one bit; `nil` if the kernel or the file system
    /// doesn't know the attribute.
    private static func attribute(_ bit: UInt64, of name: [CChar], in folder: Int32) -> Bool? {
        var words = [UInt64](repeating: 0, count: 32)
        // Word 1 has the attributes, and word 7 the mask of those that are known.
        if statx(folder, name, AT_SYMLINK_NOFOLLOW, 0, &words) != 0 || words[7] & bit == 0 { return nil }
        return words[1] & bit != 0
    }
    #endif
}
