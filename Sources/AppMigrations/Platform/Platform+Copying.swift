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

/// What a copy of a file takes: its bytes or blocks, its rights, its times, and what else the file system keeps with it.
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
            if let error = error as? SystemCallError { throw error.at(target) }
            throw error
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
        try makeLink(target, to: linkContent(path))
        if status.owner != geteuid() {
            _ = try retrying("lchown", target) { lchown(target, status.owner, status.group) }
        }
        let times = [status.accessed, status.modified]
        _ = try retrying("utimensat", target) { utimensat(AT_FDCWD, target, times, AT_SYMLINK_NOFOLLOW) }
    }

    /// What the file has holes for stays a hole.
    private static func copyContent(
        _ source: Int32,
        to target: Int32,
        _ status: FileStatus,
        _ buffer: UnsafeMutableRawBufferPointer,
        isCloning: inout Bool,
        afterEach: (_ count: Int) throws -> Void
    ) throws {
        if isCloning {
            // ioctl_ficlone(2); _IOW(0x94, 9, int), which the C library's headers don't carry.
            if ioctl(target, UInt(0x4004_9409), source) == 0 { return try afterEach(status.allocated) }
            isCloning = false
        }
        var end = 0
        while let piece = try piece(source, from: end, status) {
            if piece.lowerBound > end {
                _ = try retrying("lseek") { lseek(source, off_t(piece.lowerBound), SEEK_SET) }
                _ = try retrying("lseek") { lseek(target, off_t(piece.lowerBound), SEEK_SET) }
            }
            end = piece.lowerBound
            while end < piece.upperBound {
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(piece.upperBound - end))
                let count = try fill(part, from: source)
                if count == 0 { return }
                try writeAll(target, UnsafeRawBufferPointer(rebasing: part[..<count]))
                end += count
                try afterEach(count)
            }
        }
        if end < status.size { _ = try retrying("ftruncate") { ftruncate(target, off_t(status.size)) } }
    }

    /// The next part of an open file that is no hole.
    ///
    /// A file without holes is one part, however much it has grown since it was looked at.
    private static func piece(
        _ file: Int32,
        from offset: Int,
        _ status: FileStatus
    ) throws(SystemCallError) -> Range<Int>? {
        if status.allocated >= status.size { return offset == 0 ? 0..<Int.max : nil }
        // lseek(2): SEEK_DATA and SEEK_HOLE, which Swift's modules of the C libraries leave out.
        let (data, hole): (Int32, Int32) = (3, 4)
        do throws(SystemCallError) {
            let start = Int(try retrying("lseek") { lseek(file, off_t(offset), data) })
            let end = Int(try retrying("lseek") { lseek(file, off_t(start), hole) })
            _ = try retrying("lseek") { lseek(file, off_t(start), SEEK_SET) }
            return start..<end
        } catch {
            // ENXIO: no data follow. EINVAL: the file system can't tell, and all of it is data.
            if error.errorNumber == ENXIO { return nil }
            if error.errorNumber != EINVAL { throw error }
            return offset == 0 ? 0..<Int.max : nil
        }
    }

    /// Gives an open copy the owner, the rights, the extended attributes and the times of its open model.
    ///
    /// No right gets wider. An owner that can't be kept is an error: the copy is to take the place of the original.
    private static func copyAttributes(_ source: Int32, to copy: Int32, _ status: FileStatus)
        throws(SystemCallError)
    {
        var permissions = status.permissions
        if status.owner != geteuid() {
            _ = try retrying("fchown") { fchown(copy, status.owner, status.group) }
        } else {
            let made = try FileStatus(copy)
            if made.group != status.group, fchown(copy, uid_t.max, status.group) == -1 {
                permissions &= ~0o2070
            }
        }
        if try !copyExtendedAttributes(source, to: copy) { permissions &= ~0o2070 }
        _ = try retrying("fchmod") { fchmod(copy, mode_t(permissions)) }
        let times = [status.accessed, status.modified]
        _ = try retrying("futimens") { futimens(copy, times) }
    }

    /// Copies what is listed with the file; gives whether its access lists could be kept.
    ///
    /// With an access list, the group's permissions of a file are its mask, and say nothing of the group (acl(5)).
    private static func copyExtendedAttributes(_ source: Int32, to copy: Int32) throws(SystemCallError)
        -> Bool
    {
        var names = [CChar](repeating: 0, count: 1_024)
        var count = flistxattr(source, &names, UInt(names.count))
        if count == -1, errno == ERANGE {
            names = [CChar](repeating: 0, count: 65_536)
            count = flistxattr(source, &names, UInt(names.count))
        }
        if count == -1 {
            if isUnsupported(errno) { return true }
            throw failure("flistxattr")
        }
        let known = names[..<count].split(separator: 0).map {
            String(decoding: $0.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        var isKept = true
        for name in known {
            var value = [UInt8](repeating: 0, count: 65_536)
            let size = try retrying("fgetxattr") { fgetxattr(source, name, &value, UInt(value.count)) }
            if fsetxattr(copy, name, value, UInt(size), 0) == 0 { continue }
            // A label that only the system may set says nothing about the data; an access list does.
            if !isUnsupported(errno) { throw failure("fsetxattr") }
            if name.hasPrefix("system.posix_acl") { isKept = false }
        }
        // A copy gets the list that its folder has for new files.
        for list in ["system.posix_acl_access", "system.posix_acl_default"] where !known.contains(list) {
            if fremovexattr(copy, list) == -1, errno != ENODATA, !isUnsupported(errno) {
                throw failure("fremovexattr")
            }
        }
        return isKept
    }
    #endif

    /// Opens what is to be read as it is, without following a link or waiting for a FIFO.
    static func openEntry(_ path: String) throws(SystemCallError) -> Int32 {
        let descriptor = try retrying("open", path) {
            open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        }
        return descriptor > STDERR_FILENO ? descriptor : try raised(descriptor)
    }
}
