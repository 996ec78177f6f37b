#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import CAppMigrationsLinux
import Glibc
#elseif canImport(Musl)
import CAppMigrationsLinux
import Musl
#elseif canImport(Android)
import Android
import CAppMigrationsLinux
#endif

/// A copy of a file takes its bytes or blocks, its rights, its times, and what else the file system keeps with it.
extension Platform {
    #if canImport(Darwin)
    /// Copies a file (copyfile(3)); where the file system can, the copy shares its blocks.
    static func copyFile(
        _ source: String,
        to target: String,
        _ buffer: UnsafeMutableRawBufferPointer,
        isCloning: inout Bool,
        afterEach: (_ count: Int) throws -> Void
    ) throws {
        try copy(source, to: target, COPYFILE_ALL | COPYFILE_CLONE | COPYFILE_EXCL)
        // A clone has its original's protection class; a copy gets its folder's (fcntl(2)).
        let file = try openEntry(source)
        defer { closeAfterReading(file) }
        let made = try openEntry(target)
        defer { closeAfterReading(made) }
        let protection = fcntl(file, F_GETPROTECTIONCLASS)
        if protection > 0, fcntl(made, F_GETPROTECTIONCLASS) != protection {
            _ = try retrying("fcntl", target) { fcntl(made, F_SETPROTECTIONCLASS, protection) }
        }
        try afterEach(FileStatus(made).allocated)
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
    /// Copies a file to a place where nothing stands.
    ///
    /// `isCloning` says whether to try to share the file's blocks, and becomes false where the file system can't.
    static func copyFile(
        _ path: String,
        to target: String,
        _ buffer: UnsafeMutableRawBufferPointer,
        isCloning: inout Bool,
        afterEach: (_ count: Int) throws -> Void
    ) throws {
        let source = try openEntry(path)
        defer { closeAfterReading(source) }
        let status = try FileStatus(source, path)
        if status.kind != .file { throw unsupported(path) }
        let copy = try createExclusively(target)
        do {
            try copyContent(source, to: copy, status, buffer, isCloning: &isCloning, afterEach: afterEach)
            try copyAttributes(source, to: copy, status)
        } catch {
            closeAfterReading(copy)
            throw (error as? SystemCallError)?.at(target) ?? error
        }
        try closeAfterWriting(copy)
    }

    static func copyAttributes(ofFolder path: String, to target: String) throws(SystemCallError) {
        let source = try openEntry(path)
        defer { closeAfterReading(source) }
        let copy = try openEntry(target)
        defer { closeAfterReading(copy) }
        try at(target) { () throws(SystemCallError) in
            try copyAttributes(source, to: copy, FileStatus(source))
        }
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

    /// A hole of the file stays a hole.
    private static func copyContent(
        _ source: Int32,
        to target: Int32,
        _ status: FileStatus,
        _ buffer: UnsafeMutableRawBufferPointer,
        isCloning: inout Bool,
        afterEach: (_ count: Int) throws -> Void
    ) throws {
        // ioctl_ficlone(2); _IOW(0x94, 9, int), which the C library's headers don't carry.
        if isCloning, ioctl(target, UInt(0x4004_9409), source) == 0 { return try afterEach(status.allocated) }
        isCloning = false
        let hasHoles = status.allocated < status.size
        var offset = 0
        while offset < status.size {
            var end = status.size
            if hasHoles {
                // lseek(2): SEEK_DATA and SEEK_HOLE, which Swift's modules of the C libraries leave out.
                guard let data = try seek(source, offset, 3), let hole = try seek(source, data, 4) else {
                    break
                }
                (offset, end) = (data, hole)
                for file in [source, target] { _ = try seek(file, offset, SEEK_SET) }
            }
            while offset < end {
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(end - offset))
                let count = try fill(part, from: source)
                if count == 0 { return }
                try writeAll(target, UnsafeRawBufferPointer(rebasing: part[..<count]))
                offset += count
                try afterEach(count)
            }
        }
        if hasHoles { _ = try retrying("ftruncate") { ftruncate(target, off_t(status.size)) } }
    }

    /// The place that was sought; `nil` where no data follow (ENXIO).
    private static func seek(_ file: Int32, _ offset: Int, _ from: Int32) throws(SystemCallError) -> Int? {
        let found = lseek(file, off_t(offset), from)
        if found == -1, errno != ENXIO { throw failure("lseek") }
        return found == -1 ? nil : Int(found)
    }

    /// Gives an open copy the owner, the rights, the extended attributes and the times of its open model.
    ///
    /// No right gets wider. An owner that can't be kept is an error: the copy is to take the place of the original.
    private static func copyAttributes(_ source: Int32, to copy: Int32, _ status: FileStatus)
        throws(SystemCallError)
    {
        var permissions = status.permissions
        if fchown(copy, status.owner, status.group) == -1 {
            if status.owner != geteuid() || !isUnsupported(errno) { throw failure("fchown") }
            if try FileStatus(copy).group != status.group { permissions &= ~0o2070 }
        }
        if try !copyExtendedAttributes(source, to: copy, isFolder: status.kind == .directory) {
            permissions &= ~0o2070
        }
        _ = try retrying("fchmod") { fchmod(copy, mode_t(permissions)) }
        let times = [status.accessed, status.modified]
        _ = try retrying("futimens") { futimens(copy, times) }
    }

    /// Copies what is listed with the file; gives whether its access lists could be kept.
    ///
    /// With an access list, the group's permissions of a file are its mask, and say nothing of the group (acl(5)). Linux takes lists of
    /// names, and values, of 64 KiB (xattr(7)).
    private static func copyExtendedAttributes(_ source: Int32, to copy: Int32, isFolder: Bool)
        throws(SystemCallError) -> Bool
    {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        let names = buffer.assumingMemoryBound(to: CChar.self)
        let count = flistxattr(source, names.baseAddress, UInt(names.count))
        if count == -1 {
            if isUnsupported(errno) { return true }
            throw failure("flistxattr")
        }
        let known = buffer[..<count].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        var isKept = true
        for name in known {
            let size = try retrying("fgetxattr") {
                fgetxattr(source, name, buffer.baseAddress, UInt(buffer.count))
            }
            if fsetxattr(copy, name, buffer.baseAddress, UInt(size), 0) == 0 { continue }
            // A label that only the system may set says nothing about the data; an access list does.
            if !isUnsupported(errno) { throw failure("fsetxattr") }
            if name.hasPrefix("system.posix_acl") { isKept = false }
        }
        // A copy gets the list that its folder has for new files, and a folder hands it on.
        let lists = ["system.posix_acl_access", "system.posix_acl_default"]
        for list in lists.prefix(isFolder ? 2 : 1) where !known.contains(list) {
            if fremovexattr(copy, list) == -1, errno != ENODATA, !isUnsupported(errno) {
                throw failure("fremovexattr")
            }
        }
        return isKept
    }
    #endif
}
