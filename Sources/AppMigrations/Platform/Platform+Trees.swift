#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The calls on whole paths that a snapshot and the state's folder need.
extension Platform {
    /// Makes a directory, whose path is absolute, and those above it, for this user alone, each durable in the one above.
    static func makeDirectories(_ path: String) throws(SystemCallError) {
        let components = FilePaths.components(path)
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

    /// Makes the names of a directory and of those above it durable, as far as this user may have made them.
    ///
    /// A directory that was found may have been made by another process, which didn't sync its name yet, or died before. The
    /// path isn't resolved: where a link is on it, this library didn't make what lies behind.
    @inline(never)
    static func synchronizeNames(above path: String) throws(SystemCallError) {
        var folder = FilePaths.parent(path)
        while try mayWrite(folder) {
            do throws(SystemCallError) {
                try synchronizeDirectory(folder)
            } catch {
                // A directory that can't be listed can't be opened for this call either.
                if !forbids(error) { throw error }
            }
            if folder == "/" { return }
            folder = FilePaths.parent(folder)
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
        try synchronizeDirectory(FilePaths.parent(path))
        return true
    }

    /// The names in a directory that are text, in no order.
    static func names(in directory: String) throws(SystemCallError) -> [String] {
        let descriptor = try openDirectory(directory)
        defer { closeAfterReading(descriptor) }
        return try names(inOpen: descriptor).compactMap { name in
            name.withUnsafeBufferPointer { $0.baseAddress.flatMap(String.init(validatingCString:)) }
        }
    }

    /// The path without links, of something that exists.
    package static func resolved(_ path: String) throws(SystemCallError) -> String {
        guard let resolved = realpath(path, nil) else { throw failure("realpath") }
        defer { free(resolved) }
        return try text(resolved, of: "realpath")
    }

    /// The bytes that this user may still write into the file system of `directory`.
    static func freeSpace(_ directory: String) throws(SystemCallError) -> UInt64 {
        #if canImport(Darwin)
        // The counts of Apple's statvfs have 32 bits, and a large disk more blocks than that.
        var status = statfs()
        _ = try retrying("statfs") { statfs(directory, &status) }
        let blockSize = UInt64(status.f_bsize)
        #else
        var status = statvfs()
        _ = try retrying("statvfs") { statvfs(directory, &status) }
        let blockSize = UInt64(status.f_frsize)
        #endif
        // A file system in a user's process may not know how large it is.
        if status.f_blocks == 0 { return .max }
        let (bytes, isTooMuch) = UInt64(status.f_bavail).multipliedReportingOverflow(by: blockSize)
        return isTooMuch ? .max : bytes
    }
}

/// What the file system says of a file.
package struct FileStatus {
    package enum Kind { case file, directory, link, other }

    package let kind: Kind
    package let size: Int
    /// The bytes that the file takes; fewer than its size where it has holes, or is compressed.
    let allocated: Int
    let links: Int
    package let permissions: UInt32
    package let owner: UInt32
    package let group: UInt32
    package let identity: FileIdentity
    let accessed: (seconds: Int, nanoseconds: Int)
    let modified: (seconds: Int, nanoseconds: Int)

    @inline(never)
    package init(_ descriptor: Int32) throws(SystemCallError) {
        var status = stat()
        _ = try Platform.retrying("fstat") { fstat(descriptor, &status) }
        self.init(status)
    }

    /// Asks about a name itself, not about what a link leads to.
    package init(ofEntry path: String) throws(SystemCallError) {
        var status = stat()
        _ = try Platform.retrying("lstat") { lstat(path, &status) }
        self.init(status)
    }

    /// Asks about what a path leads to.
    package init(following path: String) throws(SystemCallError) {
        var status = stat()
        _ = try Platform.retrying("stat") { stat(path, &status) }
        self.init(status)
    }

    /// Asks about a name in an open folder.
    @inline(never)
    init(_ name: FileName, in folder: Int32) throws(SystemCallError) {
        var status = stat()
        _ = try Platform.retrying("fstatat") { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) }
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
        // stat(2): in units of 512 bytes, whatever st_blksize is.
        allocated = max(0, Int(truncatingIfNeeded: status.st_blocks) &* 512)
        links = Int(status.st_nlink)
        permissions = UInt32(status.st_mode & 0o7777)
        (owner, group) = (status.st_uid, status.st_gid)
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
package struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let file: UInt64
}
