#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The calls that making, copying, restoring and removing whole folders need.
extension Platform {
    /// Makes a directory, whose path is absolute, and those above it, for this user alone, each durable in the one above.
    static func makeDirectories(_ path: String) throws(SystemCallError) {
        let components = FileProtection.components(path)
        var missing: [String] = []
        var above = components
        while try !makeDirectory("/" + above.joined(separator: "/"), in: above) {
            missing.append(above.removeLast())
        }
        while let name = missing.popLast() {
            above.append(name)
            // Somebody may have made it meanwhile; what else stands there is found when it is used.
            if try makeDirectory("/" + above.joined(separator: "/"), in: above) { continue }
            throw SystemCallError(call: "mkdir", errorNumber: ENOENT)
        }
    }

    /// Whether the directory was made or something has that name; `false` where the one above is missing.
    private static func makeDirectory(_ path: String, in components: [String]) throws(SystemCallError) -> Bool
    {
        do throws(SystemCallError) {
            try makeDirectory(path)
        } catch {
            if error.errorNumber == EEXIST || components.isEmpty { return true }
            if error.errorNumber == ENOENT { return false }
            throw error
        }
        try synchronizeDirectory(FileProtection.parent(path))
        return true
    }

    /// The names in a directory, in no order; one that is no text is an error, or passed over.
    static func names(
        in directory: String,
        passingOthers: Bool = false
    ) throws(SystemCallError) -> [String] {
        guard let stream = opendir(directory) else { throw failure("opendir") }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    String(validatingCString: $0)
                }
            }
            guard let name else {
                if passingOthers { continue }
                // Under a repaired name it would not be found again.
                throw SystemCallError(call: "readdir", errorNumber: EILSEQ)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        if errno != 0 { throw failure("readdir") }
        return names
    }

    /// Gives what has a name that is no text a plain one, in a folder that is to go.
    static func renameOthers(in directory: String) throws(SystemCallError) {
        guard let stream = opendir(directory) else { throw failure("opendir") }
        defer { closedir(stream) }
        var number = 0
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let result = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { name -> Int32 in
                    if String(validatingCString: name) != nil { return 0 }
                    number += 1
                    return renameat(dirfd(stream), name, dirfd(stream), "\(entry.pointee.d_ino)-\(number)")
                }
            }
            if result != 0 { throw failure("renameat") }
        }
        if errno != 0 { throw failure("readdir") }
    }

    static func removeDirectory(_ path: String) throws(SystemCallError) {
        _ = try retrying("rmdir") { rmdir(path) }
    }

    /// The path without links, of something that exists.
    static func resolved(_ path: String) throws(SystemCallError) -> String {
        guard let resolved = realpath(path, nil) else { throw failure("realpath") }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The bytes that this user may still write into the file system of `directory`.
    static func freeSpace(_ directory: String) throws(SystemCallError) -> UInt64 {
        var status = statvfs()
        _ = try retrying("statvfs") { statvfs(directory, &status) }
        let (bytes, isTooMuch) = UInt64(status.f_bavail).multipliedReportingOverflow(
            by: UInt64(status.f_frsize)
        )
        return isTooMuch ? .max : bytes
    }

    static func copyLink(_ source: String, to target: String) throws(SystemCallError) {
        var content = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        _ = try retrying("readlink") { readlink(source, &content, Int(PATH_MAX)) }
        _ = try retrying("symlink") { symlink(content, target) }
    }

    /// Makes `target` share all of the source's blocks where the system does that by name; `false` where it can't.
    static func cloneFile(_ source: String, to target: String) throws(SystemCallError) -> Bool {
        #if canImport(Darwin)
        if clonefile(source, target, UInt32(CLONE_NOFOLLOW)) == 0 { return true }
        // clonefile(2): ENOTSUP when the file system has no clones, EXDEV when the paths are on two of them.
        if [ENOTSUP, EXDEV].contains(errno) { return false }
        throw failure("clonefile")
        #else
        return false
        #endif
    }

    /// Shares the blocks of an open file where the file system can; `false` where it can't.
    static func clone(_ source: Int32, to target: Int32) throws(SystemCallError) -> Bool {
        #if os(Linux) || os(Android)
        // ioctl_ficlone(2); _IOW(0x94, 9, int), which the C library's headers don't carry.
        let ficlone: UInt = 0x4004_9409
        if ioctl(target, ficlone, source) == 0 { return true }
        if [EOPNOTSUPP, EXDEV, EINVAL, ENOTTY, ENOSYS, EPERM, EBADF].contains(errno) { return false }
        throw failure("ioctl")
        #else
        return false
        #endif
    }

    /// Copies what is left to read.
    static func copyContent(_ source: Int32, to target: Int32) throws(SystemCallError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try fill(buffer, from: source)
            if count == 0 { return }
            try writeAll(target, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Lets the owner list and empty a folder that is about to be removed.
    static func makeAccessible(_ directory: String, _ status: FileStatus) throws(SystemCallError) {
        if status.permissions & 0o700 == 0o700 { return }
        _ = try retrying("chmod") { chmod(directory, mode_t(status.permissions | 0o700)) }
    }

    /// Gives a copied file or folder its model's permissions and times.
    static func setAttributes(_ path: String, as status: FileStatus) throws(SystemCallError) {
        _ = try retrying("chmod") { chmod(path, mode_t(status.permissions)) }
        try setTimes(path, as: status)
    }

    /// The same for a folder that stayed, and may be somebody else's whom this user may only write to.
    static func setAttributes(ofPresent path: String, as status: FileStatus) throws(SystemCallError) {
        if try FileStatus(ofEntry: path).permissions != status.permissions {
            _ = try retrying("chmod") { chmod(path, mode_t(status.permissions)) }
        }
        do throws(SystemCallError) {
            try setTimes(path, as: status)
        } catch {
            // utimensat(2): only the owner may set other times than now's.
            if error.errorNumber != EPERM { throw error }
        }
    }

    static func setTimes(_ path: String, as status: FileStatus) throws(SystemCallError) {
        let times = [status.accessed, status.modified].map {
            timespec(tv_sec: $0.seconds, tv_nsec: $0.nanoseconds)
        }
        _ = try retrying("utimensat") { utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) }
    }
}

/// What the file system says of a file.
struct FileStatus {
    enum Kind { case file, directory, link, other }

    let kind: Kind
    let size: Int
    let links: Int
    let permissions: UInt32
    let identity: FileIdentity
    let accessed: (seconds: Int, nanoseconds: Int)
    let modified: (seconds: Int, nanoseconds: Int)

    init(_ descriptor: Int32) throws(SystemCallError) {
        var status = stat()
        _ = try Platform.retrying("fstat") { fstat(descriptor, &status) }
        self.init(status)
    }

    /// Asks about a name itself, not about what a link leads to.
    init(ofEntry path: String) throws(SystemCallError) {
        var status = stat()
        _ = try Platform.retrying("lstat") { lstat(path, &status) }
        self.init(status)
    }

    private init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .link
        default: kind = .other
        }
        size = Int(status.st_size)
        links = Int(status.st_nlink)
        permissions = UInt32(status.st_mode & 0o7777)
        identity = FileIdentity(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            file: UInt64(status.st_ino)
        )
        #if canImport(Darwin)
        let (access, modification) = (status.st_atimespec, status.st_mtimespec)
        #else
        let (access, modification) = (status.st_atim, status.st_mtim)
        #endif
        accessed = (Int(access.tv_sec), Int(access.tv_nsec))
        modified = (Int(modification.tv_sec), Int(modification.tv_nsec))
    }
}

/// Tells a file from every other, by whatever path it was reached.
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let file: UInt64
}
