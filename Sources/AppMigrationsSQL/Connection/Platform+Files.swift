#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#endif

/// The files around a store.
///
/// A database that any connection of this process may have open is never opened here: "if a process closes
/// any of the file descriptors for a file, all of its POSIX locks on it are gone" (fcntl).
extension Platform {
    package struct FileStatus {
        package enum Kind { case file, folder, other }

        package let kind: Kind
        package let size: Int64
        package let permissions: UInt32
        package let owner: UInt32
        package let group: UInt32
        package let identity: Identity
    }

    /// Tells one file from every other.
    package struct Identity: Equatable {
        package let device: UInt64
        package let number: UInt64
    }

    /// What is at a path, links followed; `nil` where there is nothing.
    package static func status(ofFile path: String) throws(Failure) -> FileStatus? {
        var result = stat()
        if stat(path, &result) == 0 { return FileStatus(result) }
        if errno == ENOENT { return nil }
        throw Failure("stat", errno)
    }

    /// Whether anything has this name, a link that leads to nothing as well.
    package static func isThere(_ path: String) throws(Failure) -> Bool {
        var result = stat()
        if lstat(path, &result) == 0 { return true }
        if errno == ENOENT { return false }
        throw Failure("lstat", errno)
    }

    /// The path without links of a file that need not be there.
    ///
    /// A link that leads to nothing is followed, too: SQLite makes the database where it leads.
    package static func resolvedPath(of path: String) throws(Failure) -> String {
        var path = path
        // As many links in a row as Linux follows (path_resolution).
        for _ in 0..<40 {
            guard let target = try linkTarget(of: path) else {
                guard let folder = try realPath(of: folderPath(of: path)) else { return path }
                let name = name(of: path)
                return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
            }
            path = target.utf8.first == slash ? target : "\(folderPath(of: path))/\(target)"
        }
        throw Failure("readlink", ELOOP)
    }

    /// Where a link leads, `nil` for what is no link or isn't there.
    private static func linkTarget(of path: String) throws(Failure) -> String? {
        // One byte stays zero, so that the target ends with it.
        var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        if readlink(path, &target, Int(PATH_MAX)) >= 0 { return try text(target) }
        if errno == EINVAL || errno == ENOENT { return nil }
        throw Failure("readlink", errno)
    }

    /// The path without links; `nil` where there is nothing.
    private static func realPath(of path: String) throws(Failure) -> String? {
        guard let real = realpath(path, nil) else {
            if errno == ENOENT { return nil }
            throw Failure("realpath", errno)
        }
        defer { free(real) }
        return try text(real)
    }

    /// A path as text, which must give the same bytes again.
    private static func text(_ bytes: UnsafePointer<CChar>) throws(Failure) -> String {
        guard let text = String(validatingCString: bytes) else {
            throw Failure(message: "\(String(cString: bytes)) is not UTF-8, which a path has to be here")
        }
        return text
    }

    /// Makes an empty file for what is as private as `original`.
    package static func makeFile(_ path: String, like original: FileStatus?) throws(Failure) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file < 0 { throw Failure("open", errno) }
        defer { close(file) }
        guard let original else { return }
        var made = stat()
        if fstat(file, &made) != 0 { throw Failure("fstat", errno) }
        var permissions = original.permissions
        if made.st_uid != original.owner || made.st_gid != original.group {
            // Another owner takes privileges, another group a membership; an owner of `uid_t.max` stays as it is
            // (chown).
            for owner in [original.owner, .max] where fchown(file, owner, original.group) != 0 {
                if errno != EPERM { throw Failure("fchown", errno) }
                // The group of the file that was made has other people in it than the original's.
                if owner == .max { permissions &= ~0o070 }
            }
        }
        if fchmod(file, mode_t(permissions)) != 0 { throw Failure("fchmod", errno) }
    }

    /// Removes a file; `false` where there is none.
    @discardableResult
    package static func removeFile(_ path: String) throws(Failure) -> Bool {
        if unlink(path) == 0 { return true }
        if errno == ENOENT { return false }
        throw Failure("unlink", errno)
    }

    package static func rename(_ path: String, to new: String) throws(Failure) {
        #if canImport(Darwin)
        let result = Darwin.rename(path, new)
        #elseif canImport(Glibc)
        let result = Glibc.rename(path, new)
        #elseif canImport(Musl)
        let result = Musl.rename(path, new)
        #else
        let result = Android.rename(path, new)
        #endif
        if result != 0 { throw Failure("rename", errno) }
    }

    /// Makes the names in a file's folder durable.
    package static func synchronizeFolder(of path: String) throws(Failure) {
        let folder = open(folderPath(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder < 0 { throw Failure("open", errno) }
        defer { close(folder) }
        #if canImport(Darwin)
        // fsync leaves data in the drive's cache; a volume that cannot do more says so (fcntl, F_FULLFSYNC). After an
        // error of the drive or of the space fsync could succeed and the data be lost.
        while fcntl(folder, F_FULLFSYNC) == -1 {
            if errno == EINTR { continue }
            if [EIO, ENXIO, ENOSPC, EDQUOT].contains(errno) { throw Failure("fcntl", errno) }
            break
        }
        #endif
        // EINVAL: the file system has no synchronization for a folder (fsync).
        if fsync(folder) != 0, errno != EINVAL { throw Failure("fsync", errno) }
    }

    package static func folderPath(of path: String) -> String {
        // By bytes: a slash and an accent after it are one character of Swift's.
        let bytes = path.utf8
        guard let end = bytes.lastIndex(of: slash) else { return "." }
        return end == bytes.startIndex ? "/" : String(decoding: bytes[..<end], as: UTF8.self)
    }

    package static func name(of path: String) -> String {
        let bytes = path.utf8
        guard let end = bytes.lastIndex(of: slash) else { return path }
        return String(decoding: bytes[bytes.index(after: end)...], as: UTF8.self)
    }

    private static var slash: UInt8 { UInt8(ascii: "/") }

    /// The first bytes of a file, as many as it has of `count`; `nil` where there is none.
    package static func head(ofFile path: String, _ count: Int) throws(Failure) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if file < 0 {
            if errno == ENOENT { return nil }
            throw Failure("open", errno)
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        while true {
            let read = pread(file, &bytes, count, 0)
            if read >= 0 { return Array(bytes[..<read]) }
            if errno != EINTR { throw Failure("pread", errno) }
        }
    }

    /// The date and the time in UTC, as in `20261121T035428Z`.
    package static func universalTime() -> String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))"
        return "\(date)T\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))Z"
    }
}

/// A lock that the kernel gives back when its process dies: `flock` on a file of its own.
extension Platform {
    /// Opens the lock's file, and makes it where there is none.
    package static func openLock(_ path: String) throws(Failure) -> Int32 {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file < 0 { throw Failure("open", errno) }
        if file > 2 { return file }
        // The numbers 0 to 2 are for the standard streams, which somebody may close or write to.
        defer { close(file) }
        let other = fcntl(file, F_DUPFD_CLOEXEC, 3)
        if other < 0 { throw Failure("fcntl", errno) }
        return other
    }

    /// Takes the lock without waiting; `false` when somebody else has it.
    package static func tryLock(_ file: Int32) throws(Failure) -> Bool {
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw Failure("flock", errno) }
        }
        return true
    }

    package static func status(ofOpenFile file: Int32) throws(Failure) -> FileStatus {
        var result = stat()
        if fstat(file, &result) != 0 { throw Failure("fstat", errno) }
        return FileStatus(result)
    }

    /// Closes a file that nothing was written to, and gives its lock back.
    package static func closeLock(_ file: Int32) { close(file) }

    package static func pause(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        var rest = timespec(tv_sec: time_t(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        // A signal may cut it short; whoever waits looks at the clock.
        nanosleep(&rest, nil)
    }
}

extension Platform.FileStatus {
    fileprivate init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .folder
        default: kind = .other
        }
        size = Int64(status.st_size)
        permissions = UInt32(status.st_mode & 0o777)
        (owner, group) = (status.st_uid, status.st_gid)
        identity = Platform.Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            number: UInt64(truncatingIfNeeded: status.st_ino)
        )
    }
}
