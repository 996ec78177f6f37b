import AppMigrationsSystem

/// Copies links, and the owners, permissions, extended attributes and times of files and folders.
///
/// ``FileCopier`` copies the content of files.
extension Platform {
    /// Makes the empty file `copy` share the blocks of `original`; returns 0 or the `errno` value.
    ///
    /// On Apple's systems, `copyfile` makes the clones, so this always fails there.
    static func clone(_ original: Int32, to copy: Int32) -> Int32 {
        #if canImport(Darwin)
        ENOTSUP
        #else
        // FICLONE is _IOW(0x94, 9, int) (ioctl_ficlone(2)). The C library's headers don't define it.
        ioctl(copy, UInt(0x4004_9409), original) == 0 ? 0 : errno
        #endif
    }

    /// True if cloning any other file between the same two file systems would fail with the same error.
    ///
    /// `EOPNOTSUPP`, `EXDEV` and `EBADF` mean that a file system can't make clones, or that the copy is on
    /// another file system (ioctl_ficlone(2)). Kernels without the call return `ENOTTY`. Sandboxes that
    /// refuse the call return `EPERM` or `ENOSYS`. `EINVAL` is different, because it concerns one file: Btrfs
    /// returns it if only one of the two files has checksums.
    static func refusesAllClones(_ number: Int32) -> Bool {
        [EOPNOTSUPP, EXDEV, EBADF, ENOTTY, EPERM, ENOSYS].contains(number)
    }

    #if canImport(Darwin)
    /// Copies a file, as a clone if the file system can make clones.
    ///
    /// `original` is the open file at `path`.
    static func copyFile(_ path: String, opened original: Int32, to target: String) throws(SystemCallError) {
        try copy(path, to: target, COPYFILE_ALL | COPYFILE_CLONE | COPYFILE_EXCL)
        // A clone keeps the protection class of its original, but a copy gets the class of its folder
        // (fcntl(2)).
        let made = try openEntry(target)
        defer { closeAfterReading(made) }
        let protection = fcntl(original, F_GETPROTECTIONCLASS)
        if protection > 0, fcntl(made, F_GETPROTECTIONCLASS) != protection {
            _ = try retrying("fcntl", at: target) { fcntl(made, F_SETPROTECTIONCLASS, protection) }
        }
    }

    static func copyLink(_ source: String, to target: String, status: FileStatus) throws(SystemCallError) {
        try copy(source, to: target, COPYFILE_ALL | COPYFILE_EXCL)
    }

    static func copyAttributes(ofFolder source: String, to target: String) throws(SystemCallError) {
        try copy(source, to: target, COPYFILE_METADATA)
    }

    private static func copy(_ source: String, to target: String, _ flags: Int32) throws(SystemCallError) {
        _ = try retrying("copyfile", at: source) {
            copyfile(source, target, nil, copyfile_flags_t(flags | COPYFILE_NOFOLLOW))
        }
    }
    #else
    /// Gives everything in a copy of a tree the times of its original.
    package static func copyTimes(of path: String, to target: String) throws {
        for entry in try FileTree(at: path).entries {
            let copy = target + entry.below
            let times = [entry.status.accessed, entry.status.modified]
            _ = try retrying("utimensat", at: copy) { utimensat(AT_FDCWD, copy, times, AT_SYMLINK_NOFOLLOW) }
        }
    }

    static func copyAttributes(ofFolder path: String, to target: String) throws(SystemCallError) {
        let source = try openEntry(path)
        defer { closeAfterReading(source) }
        let copy = try openEntry(target)
        defer { closeAfterReading(copy) }
        try copyAttributes(of: source, FileStatus(ofOpen: source, path: path), to: copy, path: path)
    }

    static func copyLink(_ path: String, to target: String, status: FileStatus) throws(SystemCallError) {
        let content = try content(ofLink: path)
        _ = try retrying("symlink", at: target) { symlink(content, target) }
        // These may fail, because nobody needs the owner and the times of a link. For example, sshfs sets the
        // times of what the link leads to, which may not exist.
        if status.owner != geteuid() { _ = lchown(target, status.owner, status.group) }
        _ = utimensat(AT_FDCWD, target, [status.accessed, status.modified], AT_SYMLINK_NOFOLLOW)
    }

    /// Gives a copy the owner, the permissions, the extended attributes and the times of its original.
    ///
    /// `source` and `copy` are open files. The copy never gets more permissions than the original has. If
    /// this user may not give a file away, the copy of another user's file belongs to this user, as if the
    /// file had been saved anew. `path` is the path of the original, for error messages.
    static func copyAttributes(of source: Int32, _ status: FileStatus, to copy: Int32, path: String)
        throws(SystemCallError)
    {
        var permissions = status.permissions
        if fchown(copy, status.owner, status.group) == -1 {
            if isRoot || !refusals.contains(errno) { throw lastError("fchown", at: path) }
            // A program of another user must not run as this user.
            permissions &= ~0o6000
            _ = fchown(copy, uid_t.max, status.group)
            // If the copy has another group, the group's permissions would apply to the members of that
            // group. So they are removed.
            if try FileStatus(ofOpen: copy).group != status.group { permissions &= ~0o2070 }
        }
        // A new file inherits the access control list of its folder (acl(5)). Remove it, because it could
        // give permissions to other users.
        for list in ["system.posix_acl_access", "system.posix_acl_default"] {
            _ = try ignoring(
                refusals + [ENODATA],
                retrying("fremovexattr", at: path) { fremovexattr(copy, list) }
            )
        }
        // On Linux, neither the list of names nor a value can be larger than 64 KiB (xattr(7)).
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        let names = buffer.assumingMemoryBound(to: CChar.self)
        let readNames = { flistxattr(source, names.baseAddress, UInt(names.count)) }
        let count = try ignoring(refusals, retrying("flistxattr", at: path, readNames)) ?? 0
        for name in FilePaths.split(Array(buffer[..<count]), at: 0) where !name.isEmpty {
            let size = try retrying("fgetxattr", at: path) {
                fgetxattr(source, name, buffer.baseAddress, UInt(buffer.count))
            }
            if fsetxattr(copy, name, buffer.baseAddress, UInt(size), 0) == 0 { continue }
            // Labels that only the system may set, such as SELinux's, are left out, because they don't
            // describe the data. SELinux refuses them with EACCES. An access control list is never left out.
            if name.hasPrefix("system.posix_acl") || errno != EACCES && !refusals.contains(errno) {
                throw lastError("fsetxattr", at: path)
            }
        }
        _ = try retrying("fchmod", at: path) { fchmod(copy, mode_t(permissions)) }
        let times = [status.accessed, status.modified]
        _ = try retrying("futimens", at: path) { futimens(copy, times) }
    }
    #endif
}
