import AppMigrationsSystem

/// A copy of a file takes its bytes or blocks, its rights, its times, and what else the file system keeps with it.
extension Platform {
    /// Copies a file; if the file system can, the copy shares its blocks.
    ///
    /// `sharesBlocks` becomes false once the file system has refused that: of a tree with ten thousand files it is asked once.
    static func copyFile(
        _ path: String,
        to target: String,
        _ buffer: UnsafeMutableRawBufferPointer,
        sharingBlocks sharesBlocks: inout Bool,
        afterEach: (_ count: Int) throws -> Void
    ) throws {
        let source = try openEntry(path)
        defer { closeAfterReading(source) }
        let status = try FileStatus(source, path)
        if status.kind != .file { throw unsupported(path) }
        #if canImport(Darwin)
        try copy(path, to: target, COPYFILE_ALL | COPYFILE_CLONE | COPYFILE_EXCL)
        // A clone has its original's protection class; a copy gets its folder's (fcntl(2)).
        let made = try openEntry(target)
        defer { closeAfterReading(made) }
        let protection = fcntl(source, F_GETPROTECTIONCLASS)
        if protection > 0, fcntl(made, F_GETPROTECTIONCLASS) != protection {
            _ = try retrying("fcntl", target) { fcntl(made, F_SETPROTECTIONCLASS, protection) }
        }
        try afterEach(status.size)
        #else
        let copy = try createExclusively(target)
        do {
            // ioctl_ficlone(2); _IOW(0x94, 9, int), which the C library's headers don't carry.
            if sharesBlocks { sharesBlocks = ioctl(copy, UInt(0x4004_9409), source) == 0 }
            if sharesBlocks {
                try afterEach(status.size)
            } else {
                while case let count = try fill(buffer, of: source), count > 0 {
                    try writeAll(copy, buffer.baseAddress, count, target)
                    try afterEach(count)
                }
            }
            try copyAttributes(source, to: copy, status, path)
        } catch {
            closeAfterReading(copy)
            throw error
        }
        try closeAfterWriting(copy)
        #endif
    }

    #if canImport(Darwin)
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
    private static func copyAttributes(_ source: Int32, to copy: Int32, _ status: FileStatus, _ path: String)
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
