import AppMigrationsSystem

/// Owners and permissions of files and folders.
extension Platform {
    static func isOwn(_ status: FileStatus) -> Bool { status.owner == geteuid() }

    static var isRoot: Bool { geteuid() == 0 }

    /// The `errno` values for a call that a file system doesn't support, or that needs more privileges.
    static var refusals: [Int32] { [EPERM, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL] }

    /// Gives a file that root has just created in another user's folder to that user.
    ///
    /// Otherwise, one accidental `sudo` would leave files that the folder's owner can't open.
    ///
    /// A file that will replace the file at `old` gets the owner of that file. If everybody may write to the
    /// folder, nothing is changed, because another user could have tricked root into writing there. If the
    /// file system has no owners, or this process may not change them, the file keeps its owner, and no error
    /// is thrown.
    package static func giveOwnership(of made: Int32, toOwnerOf folder: String, replacing old: String? = nil)
        throws(SystemCallError)
    {
        if !isRoot { return }
        var model = try FileStatus(ofEntry: folder, following: true)
        if model.permissions & 0o002 != 0 { return }
        if let old, let replaced = try status(old), replaced.kind == .file { model = replaced }
        if model.owner == 0 { return }
        _ = try ignoring(refusals, retrying("fchown") { fchown(made, model.owner, model.group) })
    }

    /// Sets the permissions of a file that was just created.
    ///
    /// The file may have been created with the wrong permissions: another thread may have changed the umask
    /// for a moment, for example while it binds a socket. If the file system has no permissions, nothing is
    /// changed and no error is thrown.
    package static func setPermissions(ofNew made: Int32, _ permissions: UInt32) throws(SystemCallError) {
        _ = try ignoring(refusals, retrying("fchmod") { fchmod(made, mode_t(permissions)) })
    }

    /// Gives the owner of a folder all permissions for it.
    static func makeWritable(_ folder: String) throws(SystemCallError) {
        let permissions = try FileStatus(ofEntry: folder).permissions
        if permissions & 0o700 == 0o700 { return }
        _ = try retrying("chmod", at: folder) { chmod(folder, mode_t(permissions | 0o700)) }
    }

    /// Gives the owner of a folder that a ``TreeWalk`` visits all permissions for it.
    ///
    /// A folder without write permission can't be emptied.
    static func makeWritable(_ entry: TreeWalk.Entry) throws(SystemCallError) {
        let permissions = entry.status.permissions
        if entry.status.kind != .directory || permissions & 0o700 == 0o700 { return }
        _ = try retrying("chmod", at: entry.path) {
            fchmodat(entry.folder, entry.name, mode_t(permissions | 0o700), 0)
        }
    }

    /// The error that this process would get for writing to a file or folder; `nil` if it may write.
    ///
    /// The effective user is checked, because a daemon may run as another user than the user who started it.
    /// For an immutable file, the error is `EPERM` (access(2)).
    static func refusalOfWriting(_ path: String) throws(SystemCallError) -> SystemCallError? {
        do throws(SystemCallError) {
            #if os(Android)
            // Android's C library doesn't support AT_EACCESS. No app there runs as another user, so `access`
            // returns the same.
            _ = try retrying("access", at: path) { access(path, W_OK) }
            #else
            _ = try retrying("access", at: path) { faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) }
            #endif
            return nil
        } catch {
            if missingPermission.contains(error.errorNumber) { return error }
            throw error
        }
    }
}

/// Immutable and append-only files, which nobody can rename, remove or replace while they have that flag.
extension Platform {
    /// Makes an entry that a ``TreeWalk`` visits and its folder mutable, if this user may do that.
    ///
    /// - Returns: True if one of them was immutable or append-only and has been changed.
    static func makeMutable(_ entry: TreeWalk.Entry) -> Bool {
        let isEntryChanged = makeMutable(entry.name, in: entry.folder)
        // The folder that contains the walk's top isn't part of the tree, so it isn't changed.
        let isFolderChanged = !entry.isTop && makeMutable(entry.folder)
        return isEntryChanged || isFolderChanged
    }

    /// Makes an entry of an open folder mutable.
    ///
    /// `name` is a NUL-terminated C string, which need not be UTF-8.
    private static func makeMutable(_ name: [CChar], in folder: Int32) -> Bool {
        let descriptor = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)
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
        // ioctl_iflags(2): the numbers of FS_IOC_GETFLAGS and FS_IOC_SETFLAGS contain the size of a `long`.
        let size = UInt(MemoryLayout<Int>.size) << 16
        var flags = [CInt](repeating: 0, count: 2)
        let isRead = flags.withUnsafeMutableBytes { bytes in
            ioctl(descriptor, 0x8000_6601 | size, bytes.baseAddress.unsafelyUnwrapped) == 0
        }
        // FS_APPEND_FL is 0x20, FS_IMMUTABLE_FL is 0x10.
        if !isRead || flags[0] & 0x30 == 0 { return false }
        flags[0] &= ~0x30
        return flags.withUnsafeMutableBytes { bytes in
            ioctl(descriptor, 0x4000_6602 | size, bytes.baseAddress.unsafelyUnwrapped) == 0
        }
        #endif
    }
}
