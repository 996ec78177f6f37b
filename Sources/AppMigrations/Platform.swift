#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
#error("AppMigrations needs a POSIX C library: Darwin, Glibc, Musl or Android's.")
#endif

/// The one place that names the C library.
///
/// Each call is tried again on `EINTR` but `close`, whose descriptor is gone on Linux by then.
enum Platform {
    static var noEntry: Int32 { ENOENT }
    static var exists: Int32 { EEXIST }
    static var nameTooLong: Int32 { ENAMETOOLONG }

    static var notADirectory: Int32 { ENOTDIR }
    static var tooLarge: SystemCallError { SystemCallError(call: "write", errorNumber: EFBIG) }

    /// Whether an error says that the name stands for a link, a folder, a socket or a FIFO instead of a file.
    static func saysNotRegular(_ error: SystemCallError) -> Bool {
        [EISDIR, ELOOP, ENXIO, EAGAIN].contains(error.errorNumber)
    }

    static func text(ofError number: Int32) -> String { String(cString: strerror(number)) }

    @inline(__always)
    static func failure(_ call: StaticString) -> SystemCallError {
        let number = errno
        return makeFailure(call, number)
    }

    @inline(never)
    private static func makeFailure(_ call: StaticString, _ number: Int32) -> SystemCallError {
        SystemCallError(call: call.description, errorNumber: number)
    }

    /// Repeats a call that a signal interrupted, and throws what else made it return -1.
    @inline(__always)
    static func retrying<Value: SignedInteger>(
        _ call: StaticString,
        _ body: () -> Value
    ) throws(SystemCallError) -> Value {
        while true {
            let value = body()
            if value != -1 { return value }
            if errno != EINTR { throw failure(call) }
        }
    }

    /// Opens what should be a regular file, without waiting for a FIFO's writer, following no link and never
    /// becoming the owner of a terminal.
    @inline(__always)
    static func openToRead(_ path: UnsafePointer<CChar>) throws(SystemCallError) -> Int32 {
        try retrying("open") { open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY) }
    }

    static func openDirectory(_ path: String) throws(SystemCallError) -> Int32 {
        try retrying("open") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }

    static func createExclusively(_ path: String) throws(SystemCallError) -> Int32 {
        try retrying("open") { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
    }

    static func openLock(_ path: String) throws(SystemCallError) -> Int32 {
        try retrying("open") {
            open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o600)
        }
    }

    @inline(__always)
    static func fill(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32) throws(SystemCallError) -> Int {
        try retrying("read") { read(descriptor, buffer.baseAddress, buffer.count) }
    }

    static func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = try retrying("write") { write(descriptor, part.baseAddress, part.count) }
            // POSIX gives 0 only when nothing was asked for; trying again for ever would hang.
            if count == 0 { throw makeFailure("write", EIO) }
            rest = rest.dropFirst(count)
        }
    }

    static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) throws(SystemCallError) {
        let failure = bytes.withUnsafeBytes { bytes -> SystemCallError? in
            do throws(SystemCallError) {
                try writeAll(descriptor, bytes)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Closes a descriptor that was only read: nothing can be lost by an error here.
    @inline(__always)
    static func closeAfterReading(_ descriptor: Int32) { _ = close(descriptor) }

    static func closeAfterWriting(_ descriptor: Int32) throws(SystemCallError) {
        if close(descriptor) == -1, errno != EINTR { throw failure("close") }
    }

    /// Brings a file's data to the medium itself.
    static func synchronize(_ descriptor: Int32) throws(SystemCallError) {
        #if canImport(Darwin)
        // fcntl(2): fsync moves data to the drive, F_FULLFSYNC through the drive's cache. Volumes that can't do
        // the second say so, and the first is all there is.
        if fcntl(descriptor, F_FULLFSYNC) != -1 { return }
        if errno == EIO || errno == ENOSPC { throw failure("fcntl") }
        #endif
        _ = try retrying("fsync") { fsync(descriptor) }
    }

    /// Makes the names in a directory durable.
    static func synchronizeDirectory(_ path: String) throws(SystemCallError) {
        let descriptor = try openDirectory(path)
        defer { closeAfterReading(descriptor) }
        do throws(SystemCallError) {
            try synchronize(descriptor)
        } catch {
            // fsync(2): EINVAL when the file system has no synchronization for what the descriptor stands for.
            if error.errorNumber != EINVAL { throw error }
        }
    }

    static func replace(_ path: String, with new: String) throws(SystemCallError) {
        _ = try retrying("rename") { rename(new, path) }
    }

    static func removeFile(_ path: String) throws(SystemCallError) {
        _ = try retrying("unlink") { unlink(path) }
    }

    static func makeDirectory(_ path: String, mode: UInt32 = 0o700) throws(SystemCallError) {
        _ = try retrying("mkdir") { mkdir(path, mode_t(mode)) }
    }

    /// Makes a directory and those above it, for this user alone, each durable in the one above.
    static func makeDirectories(_ path: String) throws(SystemCallError) {
        let parent = path.split(separator: "/", omittingEmptySubsequences: true).dropLast()
        let above = (path.utf8.first == 0x2F ? "/" : "") + parent.joined(separator: "/")
        do throws(SystemCallError) {
            try makeDirectory(path)
        } catch {
            // Somebody else made it meanwhile, or it is there and the file's own name is what is missing.
            if error.errorNumber == EEXIST { return }
            guard error.errorNumber == ENOENT, !parent.isEmpty else { throw error }
            try makeDirectories(above)
            return try makeDirectories(path)
        }
        try synchronizeDirectory(above)
    }

    /// What a regular file holds; `nil` for anything else, and for more than `limit` bytes.
    static func contents(ofFile path: String, limit: Int) throws(SystemCallError) -> [UInt8]? {
        let descriptor = try openToRead(path)
        defer { closeAfterReading(descriptor) }
        let status = try FileStatus(descriptor)
        guard status.kind == .file, status.size <= limit else { return nil }
        var content: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try fill(buffer, from: descriptor)
            if count == 0 { return content }
            content += buffer[..<count]
            if content.count > limit { return nil }
        }
    }

    /// Takes the lock of an open file without waiting; `false` when somebody else has it.
    static func tryLock(_ descriptor: Int32) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) {
            _ = try retrying("flock") { flock(descriptor, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            if error.errorNumber == EWOULDBLOCK { return false }
            throw error
        }
    }

    /// Gives the lock back and closes the file. A child made by `fork` alone shares the lock, so closing isn't enough.
    static func unlock(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Leaves this process's number in the lock file, for the message of whoever waits in vain.
    static func writeProcess(_ descriptor: Int32) throws(SystemCallError) {
        _ = try retrying("ftruncate") { ftruncate(descriptor, 0) }
        try writeAll(descriptor, Array("\(getpid())\n".utf8))
    }

    static var now: Int64 { Int64(time(nil)) }

    static func pause(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        var rest = timespec(tv_sec: time_t(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        // A signal may cut the pause short: the caller asks the clock anyway.
        nanosleep(&rest, nil)
    }

    static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    static func workingDirectory() throws(SystemCallError) -> String {
        guard let path = getcwd(nil, 0) else { throw failure("getcwd") }
        defer { free(path) }
        return String(cString: path)
    }

    /// The last component of the name this program was started with.
    static var executableName: String? {
        guard CommandLine.argc > 0, let first = CommandLine.unsafeArgv[0] else { return nil }
        return String(cString: first).split(separator: "/").last.map(String.init)
    }

    /// Where `byte` stands first; a history of 15 KB takes `memchr` a third of a microsecond.
    static func first(_ byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress, let found = memchr(base, Int32(byte), bytes.count) else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// The names in a directory, in no order.
    static func names(in directory: String) throws(SystemCallError) -> [String] {
        guard let stream = opendir(directory) else { throw failure("opendir") }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        if errno != 0 { throw failure("readdir") }
        return names
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
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    static func copyLink(_ source: String, to target: String) throws(SystemCallError) {
        var content = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        _ = try retrying("readlink") { readlink(source, &content, Int(PATH_MAX)) }
        _ = try retrying("symlink") { symlink(content, target) }
    }

    /// Shares the source's blocks where the file system can; `false` where it can't.
    static func clone(_ source: Int32, to target: Int32) throws(SystemCallError) -> Bool {
        #if os(Linux) || os(Android)
        // ioctl_ficlone(2); _IOW(0x94, 9, int), which the C library's headers don't carry.
        let ficlone: UInt = 0x4004_9409
        if ioctl(target, ficlone, source) == 0 { return true }
        if [EOPNOTSUPP, EXDEV, EINVAL, ENOTTY, ENOSYS, EPERM, EBADF].contains(errno) { return false }
        throw failure("ioctl")
        #else
        // copyfile(3) shares blocks through fcopyfile only of whole files made by it; `copyContent` copies instead.
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

    static func setTimes(_ path: String, as status: FileStatus) throws(SystemCallError) {
        let times = [status.accessed, status.modified].map { timespec(tv_sec: $0.seconds, tv_nsec: $0.nanoseconds) }
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
        identity = FileIdentity(device: UInt64(truncatingIfNeeded: status.st_dev), file: UInt64(status.st_ino))
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
