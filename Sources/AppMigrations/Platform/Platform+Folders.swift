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

/// A file's name as its bytes with a NUL at the end: POSIX asks no name to be text.
package typealias FileName = [CChar]

/// Calls on a name in an open folder.
///
/// No path gets too long for them, and nobody can swap a folder on the way for a link. None follows a link.
extension Platform {
    /// Stands for the folder where a path begins, so that a path is a name too.
    static var anyFolder: Int32 { AT_FDCWD }

    @inline(never)
    static func openName(
        _ name: FileName,
        in folder: Int32,
        _ flags: Int32,
        mode: mode_t = 0
    ) throws(SystemCallError) -> Int32 {
        try opening("openat") {
            openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode)
        }
    }

    static func openFolder(_ name: FileName, in folder: Int32) throws(SystemCallError) -> Int32 {
        try openName(name, in: folder, O_RDONLY | O_DIRECTORY)
    }

    /// Opens the folder above an open one.
    static func openFolder(above folder: Int32) throws(SystemCallError) -> Int32 {
        try openName(FileName("..".utf8CString), in: folder, O_RDONLY | O_DIRECTORY)
    }

    /// Opens a folder, whose path is absolute, if no link is on the way to it; names can be looked up in it, and no more.
    static func openWithoutLinks(_ path: String) throws(SystemCallError) -> Int32 {
        #if canImport(Darwin)
        return try opening { Darwin.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW_ANY) }
        #else
        var folder = try openName(FileName("/".utf8CString), in: anyFolder, nameOnly | O_DIRECTORY)
        for component in FilePaths.components(path) {
            let above = folder
            defer { closeAfterReading(above) }
            folder = try openName(FileName(component.utf8CString), in: folder, nameOnly | O_DIRECTORY)
        }
        return folder
        #endif
    }

    /// Opens the folder that a name or a link of that name leads to.
    static func openFolder(
        followingLink name: FileName,
        in folder: Int32
    ) throws(SystemCallError) -> Int32 {
        try opening("openat") { openat(folder, name, nameOnly | O_DIRECTORY | O_CLOEXEC) }
    }

    static func openForNames(_ name: FileName, in folder: Int32) throws(SystemCallError) -> Int32 {
        try openName(name, in: folder, nameOnly | O_DIRECTORY)
    }

    /// The flags that open a folder for the names in it only, so that a folder which this user may not list is opened too.
    private static var nameOnly: Int32 {
        #if canImport(Darwin)
        O_RDONLY
        #else
        // open(2): O_PATH, which Swift's modules of the C libraries leave out.
        0o10000000
        #endif
    }

    static func openToRead(_ name: FileName, in folder: Int32) throws(SystemCallError) -> Int32 {
        try openName(name, in: folder, O_RDONLY)
    }

    /// Opens a file in the way that this user may.
    static func openToSynchronize(_ name: FileName, in folder: Int32) throws(SystemCallError) -> Int32 {
        do throws(SystemCallError) {
            return try openToRead(name, in: folder)
        } catch {
            if error.errorNumber != EACCES { throw error }
            return try openName(name, in: folder, O_WRONLY)
        }
    }

    static func create(_ name: FileName, in folder: Int32) throws(SystemCallError) -> Int32 {
        try openName(name, in: folder, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    }

    /// Opens a file that is there and empties it.
    static func openToOverwrite(_ name: FileName, in folder: Int32) throws(SystemCallError) -> Int32 {
        let descriptor = try openName(name, in: folder, O_WRONLY)
        do throws(SystemCallError) {
            _ = try retrying("ftruncate") { ftruncate(descriptor, 0) }
        } catch {
            closeAfterReading(descriptor)
            throw error
        }
        return descriptor
    }

    /// The names in an open folder, in no order.
    package static func names(inOpen folder: Int32) throws(SystemCallError) -> [FileName] {
        let copy = try retrying("fcntl") { fcntl(folder, F_DUPFD_CLOEXEC, 3) }
        guard let stream = fdopendir(copy) else {
            let error = failure("fdopendir")
            closeAfterReading(copy)
            throw error
        }
        defer { closedir(stream) }
        // Both descriptors share one position.
        rewinddir(stream)
        var names: [FileName] = []
        while true {
            // POSIX: the end and an error are both a null pointer, and only an error sets errno.
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    FileName(UnsafeBufferPointer(start: $0, count: strlen($0) + 1))
                }
            }
            if name[0] == dot, name[1] == 0 || (name[1] == dot && name[2] == 0) { continue }
            names.append(name)
        }
        if errno != 0 { throw failure("readdir") }
        return names
    }

    private static var dot: CChar { 0x2E }

    static func makeFolder(_ name: FileName, in folder: Int32) throws(SystemCallError) {
        _ = try retrying("mkdirat") { mkdirat(folder, name, 0o700) }
    }

    static func removeFile(_ name: FileName, in folder: Int32) throws(SystemCallError) {
        _ = try retrying("unlinkat") { unlinkat(folder, name, 0) }
    }

    static func removeFolder(_ name: FileName, in folder: Int32) throws(SystemCallError) {
        _ = try retrying("unlinkat") { unlinkat(folder, name, AT_REMOVEDIR) }
    }

    /// What a link holds, with a NUL at its end.
    static func linkContent(_ name: FileName, in folder: Int32) throws(SystemCallError) -> FileName {
        var content = FileName(repeating: 0, count: Int(PATH_MAX) + 1)
        let count = try retrying("readlinkat") { readlinkat(folder, name, &content, Int(PATH_MAX)) }
        return FileName(content[...count])
    }

    static func makeLink(
        _ name: FileName,
        in folder: Int32,
        to content: FileName
    ) throws(SystemCallError) {
        _ = try retrying("symlinkat") { symlinkat(content, folder, name) }
    }

    /// What it is when the folder above isn't the one that a walk came from.
    static var moved: SystemCallError { SystemCallError(call: "openat", errorNumber: ESTALE) }

    /// Syncs the names in an open folder to disk, or to the cache of the drive only.
    static func synchronizeFolder(opened folder: Int32, throughCache: Bool = true) throws(SystemCallError) {
        do throws(SystemCallError) {
            try throughCache ? synchronize(folder) : handOver(folder)
        } catch {
            // fsync(2): EINVAL when the file system has no synchronization for what the descriptor stands for.
            if error.errorNumber != EINVAL { throw error }
        }
    }

    /// The same for a folder that was opened for its names only.
    static func synchronizeFolder(reopening folder: Int32) throws(SystemCallError) {
        let descriptor = try openFolder(FileName(".".utf8CString), in: folder)
        defer { closeAfterReading(descriptor) }
        try synchronizeFolder(opened: descriptor)
    }

    /// Syncs the whole file system of an open folder to disk; `false` where the operating system can't.
    static func synchronizeFileSystem(of folder: Int32) throws(SystemCallError) -> Bool {
        #if os(Linux) || os(Android)
        _ = try retrying("syncfs") { syncfs(folder) }
        return true
        #else
        return false
        #endif
    }

    /// Whether something is mounted at an open folder, which `above` is the device of the folder above for.
    static func isMountPoint(_ folder: Int32, _ status: FileStatus, above: FileIdentity) -> Bool {
        #if os(Linux)
        let emptyPath: Int32 = 0x1000
        if let isRoot = isMountRoot(FileName("".utf8CString), in: folder, emptyPath) { return isRoot }
        #endif
        return status.identity.device != above.device
    }

    /// Whether something is mounted at a path itself; `false` too where only the device could tell.
    static func isMountPoint(_ path: String) -> Bool {
        #if os(Linux)
        isMountRoot(FileName(path.utf8CString), in: anyFolder, AT_SYMLINK_NOFOLLOW) ?? false
        #else
        false
        #endif
    }

    #if os(Linux)
    // statx(2): bit 13 of the attributes says it, if bit 13 of their mask does. The number of the device says too
    // much of a subvolume, and nothing of a folder that is mounted in its own file system.
    private static func isMountRoot(_ name: FileName, in folder: Int32, _ flags: Int32) -> Bool? {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 32) { buffer -> Bool? in
            guard let start = buffer.baseAddress else { return nil }
            let result = statx(folder, name, flags, 0, start)
            let (attributes, mask) = (start[1], start[7])
            return result == 0 && mask & 0x2000 != 0 ? attributes & 0x2000 != 0 : nil
        }
    }
    #endif
}

/// The errors that a caller tells apart.
extension SystemCallError {
    var isAbsent: Bool { errorNumber == ENOENT || errorNumber == ENOTDIR }
    var isPresent: Bool { errorNumber == EEXIST }
    var isNotEmpty: Bool { errorNumber == ENOTEMPTY || errorNumber == EEXIST }

    /// Something has taken the place of a folder: open(2) says `ENOTDIR` of a link too when a folder was asked for.
    var isNoFolder: Bool { [ENOENT, ENOTDIR, ELOOP, EMLINK].contains(errorNumber) }

    /// A name that stays, though what it stands for may be written to: a file that is mounted, or one whose folder is
    /// somebody else's, can't be removed.
    var isKeptName: Bool { [EBUSY, EACCES, EPERM, EROFS].contains(errorNumber) }

    /// Whether a file system can't keep the rights or times that were set, or this user may not set them.
    var isUnsettable: Bool { [EPERM, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL].contains(errorNumber) }

    var isForbidden: Bool { errorNumber == EACCES || errorNumber == EPERM }
}
