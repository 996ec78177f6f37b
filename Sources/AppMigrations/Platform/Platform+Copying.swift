import AppMigrationsSystem

/// A copy of a file takes its bytes or blocks, its rights, its times, and what else the file system keeps with it.
extension Platform {
    /// Makes an empty file share the blocks of an original; returns 0 or the error number.
    static func clone(_ original: Int32, to copy: Int32) -> Int32 {
        #if canImport(Darwin)
        ENOTSUP
        #else
        // ioctl_ficlone(2): FICLONE is _IOW(0x94, 9, int), which the C library's headers don't define.
        ioctl(copy, UInt(0x4004_9409), original) == 0 ? 0 : errno
        #endif
    }

    /// True if the error of a clone holds for every file of the same two file systems, and not for this file alone.
    ///
    /// ioctl_ficlone(2): these mean that a file system has no clones, or that the copy is on another one. Kernels without the call
    /// return `ENOTTY`, and sandboxes that refuse it `EPERM` or `ENOSYS`. `EINVAL` is about one file: Btrfs returns it if only one of
    /// the two files has checksums.
    static func refusesAllClones(_ number: Int32) -> Bool {
        [EOPNOTSUPP, EXDEV, EBADF, ENOTTY, EPERM, ENOSYS].contains(number)
    }

    #if canImport(Darwin)
    /// Copies a file, whose original is open, as a clone if the file system can do that.
    static func copyFile(_ path: String, _ original: Int32, to target: String) throws(SystemCallError) {
        try copy(path, to: target, COPYFILE_ALL | COPYFILE_CLONE | COPYFILE_EXCL)
        // A clone has its original's protection class; a copy gets its folder's (fcntl(2)).
        let made = try openEntry(target)
        defer { closeAfterReading(made) }
        let protection = fcntl(original, F_GETPROTECTIONCLASS)
        if protection > 0, fcntl(made, F_GETPROTECTIONCLASS) != protection {
            _ = try retrying("fcntl", target) { fcntl(made, F_SETPROTECTIONCLASS, protection) }
        }
    }

    static func copyLink(_ source: String, to target: String, _ status: FileStatus) throws(SystemCallError) {
        try copy(source, to: target, COPYFILE_ALL | COPYFILE_EXCL)
    }

    static func copyAttributes(ofFolder source: String, to target: String) throws(SystemCallError) {
        try copy(source, to: target, COPYFILE_METADATA)
    }

    private static func copy(_ source: String, to target: String, _ flags: Int32) throws(SystemCallError) {
        _ = try retrying("copyfile", source) {
            copyfile(source, target, nil, copyfile_flags_t(flags | COPYFILE_NOFOLLOW))
        }
    }
    #else
    static func copyAttributes(ofFolder path: String, to target: String) throws(SystemCallError) {
        let source = try openEntry(path)
        defer { closeAfterReading(source) }
        let copy = try openEntry(target)
        defer { closeAfterReading(copy) }
        try copyAttributes(source, to: copy, FileStatus(source, path), path)
    }

    static func copyLink(_ path: String, to target: String, _ status: FileStatus) throws(SystemCallError) {
        // One byte stays zero, so that the content ends with it.
        var content = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        _ = try retrying("readlink", path) { readlink(path, &content, Int(PATH_MAX)) }
        _ = try retrying("symlink", target) { symlink(content, target) }
        if status.owner != geteuid() {
            _ = try retrying("lchown", target) { lchown(target, status.owner, status.group) }
        }
        let times = [status.accessed, status.modified]
        _ = try retrying("utimensat", target) { utimensat(AT_FDCWD, target, times, AT_SYMLINK_NOFOLLOW) }
    }

    /// Gives an open copy the owner, the rights, the extended attributes and the times of its open model.
    ///
    /// No right gets wider. An owner that can't be kept is an error: the copy is to take the place of the original, which is the one
    /// that an error names.
    static func copyAttributes(_ source: Int32, to copy: Int32, _ status: FileStatus, _ path: String)
        throws(SystemCallError)
    {
        var permissions = status.permissions
        if fchown(copy, status.owner, status.group) == -1 {
            if status.owner != geteuid() || !refusals.contains(errno) { throw failure("fchown", path) }
            if try FileStatus(copy).group != status.group { permissions &= ~0o2070 }
        }
        // A new file has the list that the folder above hands on, by which others could get rights to it (acl(5)).
        for list in ["system.posix_acl_access", "system.posix_acl_default"] {
            _ = try unless(refusals + [ENODATA], retrying("fremovexattr", path) { fremovexattr(copy, list) })
        }
        // Linux takes lists of names, and values, of 64 KiB (xattr(7)).
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        let names = buffer.assumingMemoryBound(to: CChar.self)
        let list = { flistxattr(source, names.baseAddress, UInt(names.count)) }
        let count = try unless(refusals, retrying("flistxattr", path, list)) ?? 0
        for name in FilePaths.split(Array(buffer[..<count]), at: 0) where !name.isEmpty {
            let size = try retrying("fgetxattr", path) {
                fgetxattr(source, name, buffer.baseAddress, UInt(buffer.count))
            }
            if fsetxattr(copy, name, buffer.baseAddress, UInt(size), 0) == 0 { continue }
            // A label that only the system may set says nothing about the data; an access list does. SELinux says EACCES.
            if name.hasPrefix("system.posix_acl") || errno != EACCES && !refusals.contains(errno) {
                throw failure("fsetxattr", path)
            }
        }
        _ = try retrying("fchmod", path) { fchmod(copy, mode_t(permissions)) }
        let times = [status.accessed, status.modified]
        _ = try retrying("futimens", path) { futimens(copy, times) }
    }
    #endif
}
