import AppMigrationsSystem

package struct FileStatus {
    package enum Kind {
        case file, directory, link, socket, fifo, device

        /// What a thing is that has no content to copy; `nil` for the others.
        var wordIfSpecial: Message? {
            switch self {
            case .file, .directory, .link: nil
            case .socket: "a socket"
            case .fifo: "a FIFO"
            case .device: "a device"
            }
        }
    }

    package let kind: Kind
    package let size: Int
    package let permissions: UInt32
    package let owner: UInt32
    package let group: UInt32
    let links: Int
    package let identity: FileIdentity
    let accessed: timespec
    let modified: timespec

    @inline(never)
    package init(_ descriptor: Int32, _ path: String? = nil) throws(SystemCallError) {
        try self.init("fstat", path) { fstat(descriptor, $0) }
    }

    @inline(never)
    package init(ofEntry path: String, following: Bool = false) throws(SystemCallError) {
        try self.init(following ? "stat" : "lstat", path) { following ? stat(path, $0) : lstat(path, $0) }
    }

    /// The status of the entry of an open folder itself, by the bytes of its name; `path` is for an error.
    init(of name: [CChar], in folder: Int32, _ path: String) throws(SystemCallError) {
        try self.init("fstatat", path) { fstatat(folder, name, $0, AT_SYMLINK_NOFOLLOW) }
    }

    private init(
        _ call: StaticString,
        _ path: String?,
        _ body: (UnsafeMutablePointer<stat>) -> Int32
    ) throws(SystemCallError) {
        var status = stat()
        _ = try Platform.retrying(call, path) { body(&status) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .link
        case S_IFSOCK: kind = .socket
        case S_IFIFO: kind = .fifo
        default: kind = .device
        }
        size = Int(clamping: status.st_size)
        permissions = UInt32(status.st_mode & 0o7777)
        (owner, group) = (status.st_uid, status.st_gid)
        links = Int(status.st_nlink)
        let device = UInt64(truncatingIfNeeded: status.st_dev)
        identity = FileIdentity(device: device, file: UInt64(status.st_ino))
        #if canImport(Darwin)
        (accessed, modified) = (status.st_atimespec, status.st_mtimespec)
        #else
        (accessed, modified) = (status.st_atim, status.st_mtim)
        #endif
    }
}

/// Tells a file from every other, by whatever path it was reached.
package struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let file: UInt64
}

extension Platform {
    /// The status of the thing at a path, or of what it leads to; `nil` where nothing does.
    static func status(_ path: String, following: Bool = false) throws(SystemCallError) -> FileStatus? {
        try unless(absent, FileStatus(ofEntry: path, following: following))
    }

    /// The status of what SQLite may keep beside a file, whose name can be too long for that.
    static func statusIfPresent(_ path: String) throws(SystemCallError) -> FileStatus? {
        try unless([ENAMETOOLONG], status(path)) ?? nil
    }

    /// True if something is at a path, be it a link that leads nowhere.
    ///
    /// It is asked for what is seldom there, so it answers without an error object.
    @inline(never)
    static func exists(at path: String) throws(SystemCallError) -> Bool {
        var status = stat()
        while lstat(path, &status) != 0 {
            if absent.contains(errno) { return false }
            try refuse("lstat", path)
        }
        return true
    }

    static func identity(ofFolder path: String) throws(SystemCallError) -> FileIdentity? {
        try status(path, following: true)?.identity
    }

    /// The bytes of a regular file; `nil` for anything else, and for more than `limit` bytes.
    static func contents(ofFile path: String, limit: Int) throws(SystemCallError) -> [UInt8]? {
        let descriptor = try openToRead(path)
        defer { closeAfterReading(descriptor) }
        return try contents(ofOpen: descriptor, limit: limit)
    }

    /// The same of a regular file that a walk found; `nil` if it is gone.
    static func contents(of entry: TreeWalk.Entry, limit: Int) throws(SystemCallError) -> [UInt8]? {
        guard let descriptor = try unless(absent, openFound(entry)) else { return nil }
        defer { closeAfterReading(descriptor) }
        return try contents(ofOpen: descriptor, limit: limit)
    }

    /// Opens an entry of a walk to read or to sync it.
    static func openFound(_ entry: TreeWalk.Entry) throws(SystemCallError) -> Int32 {
        let flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC
        return try opening(entry.path) { openat(entry.folder, entry.name, flags) }
    }

    package static func contents(ofOpen descriptor: Int32, limit: Int) throws(SystemCallError) -> [UInt8]? {
        let status = try FileStatus(descriptor)
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
    /// The device's number says too much of a subvolume, and nothing of a folder that is mounted in its own file system.
    static func isMountPoint(_ path: String, _ status: FileStatus) throws(SystemCallError) -> Bool {
        #if os(Linux)
        // statx(2): bit 13 of the attributes says it, if bit 13 of their mask does.
        var words = [UInt64](repeating: 0, count: 32)
        if statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &words) == 0, words[7] & 0x2000 != 0 {
            return words[1] & 0x2000 != 0
        }
        #endif
        return try status.identity.device != identity(ofFolder: FilePaths.parent(path))?.device
    }

    /// True if something is mounted on an entry of a walk.
    static func isMountPoint(_ entry: TreeWalk.Entry) throws(SystemCallError) -> Bool {
        if entry.isTop { return try isMountPoint(entry.path, entry.status) }
        #if os(Linux)
        var words = [UInt64](repeating: 0, count: 32)
        if statx(entry.folder, entry.name, AT_SYMLINK_NOFOLLOW, 0, &words) == 0, words[7] & 0x2000 != 0 {
            return words[1] & 0x2000 != 0
        }
        #endif
        return try entry.status.identity.device != FileStatus(entry.folder, entry.path).identity.device
    }
}
