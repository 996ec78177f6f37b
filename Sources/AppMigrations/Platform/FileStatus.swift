import AppMigrationsSystem

/// The kind, size, owner and other facts about a file, folder or link.
package struct FileStatus: Sendable {
    package enum Kind: Sendable {
        case file, directory, link, socket, fifo, device

        /// The words for a kind that can't be copied, for error messages; `nil` for files, folders and links.
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

    /// Reads the status of an open file.
    ///
    /// `path` is the path in error messages.
    @inline(never)
    package init(ofOpen descriptor: Int32, path: String? = nil) throws(SystemCallError) {
        try self.init(call: "fstat", path: path) { fstat(descriptor, $0) }
    }

    /// Reads the status of the item at a path.
    ///
    /// If `following` is true, a link is followed.
    @inline(never)
    package init(ofEntry path: String, following: Bool = false) throws(SystemCallError) {
        let call: StaticString = following ? "stat" : "lstat"
        try self.init(call: call, path: path) { following ? stat(path, $0) : lstat(path, $0) }
    }

    /// Reads the status of an entry of an open folder.
    ///
    /// `name` is a NUL-terminated C string. A link isn't followed. `path` is the path in error messages.
    init(of name: [CChar], in folder: Int32, path: String) throws(SystemCallError) {
        try self.init(call: "fstatat", path: path) { fstatat(folder, name, $0, AT_SYMLINK_NOFOLLOW) }
    }

    private init(
        call: StaticString,
        path: String?,
        _ body: (UnsafeMutablePointer<stat>) -> Int32
    ) throws(SystemCallError) {
        var status = stat()
        _ = try Platform.retrying(call, at: path) { body(&status) }
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
        owner = status.st_uid
        group = status.st_gid
        links = Int(status.st_nlink)
        let device = UInt64(truncatingIfNeeded: status.st_dev)
        identity = FileIdentity(device: device, file: UInt64(status.st_ino))
        #if canImport(Darwin)
        accessed = status.st_atimespec
        modified = status.st_mtimespec
        #else
        accessed = status.st_atim
        modified = status.st_mtim
        #endif
    }
}
