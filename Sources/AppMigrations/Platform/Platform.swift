import AppMigrationsSystem

/// The calls of the C library that a start and a save make, and what a process knows of itself and of the time.
///
/// The files `Platform+….swift` beside it have the rest: locks, folders, syncs and copies. Nothing else names the C library.
///
/// Each call is tried again on `EINTR` but `close`, whose descriptor is gone on Linux by then.
package enum Platform {
    static var noEntry: Int32 { ENOENT }
    /// The numbers of calls on what isn't there.
    static var absent: [Int32] { [ENOENT, ENOTDIR] }
    /// The numbers of calls that fail for want of rights, or are refused by a sandbox.
    static var forbidden: [Int32] { [EACCES, EPERM] }
    package static var notText: Int32 { EILSEQ }
    // The errors of opening a locked device's file. Elsewhere EACCES means missing rights, ENOKEY a folder without its key.
    #if canImport(Darwin)
    fileprivate static var locked: [Int32] { [EPERM, EACCES] }
    #else
    fileprivate static var locked: [Int32] { [EPERM, ENOKEY] }
    #endif

    static func isDenied(_ number: Int32) -> Bool { number == EACCES }

    static var tooLarge: SystemCallError { SystemCallError(call: "write", errorNumber: EFBIG) }

    package static func failure(_ call: StaticString, _ path: String? = nil) -> SystemCallError {
        let number = errno
        return SystemCallError(call: call.description, errorNumber: number, path: path)
    }

    /// After a call that returned -1: throws, unless a signal interrupted it.
    @inline(never)
    static func refuse(_ call: StaticString, _ path: String?) throws(SystemCallError) {
        if errno != EINTR { throw failure(call, path) }
    }

    @inline(__always)
    package static func retrying<Value: SignedInteger>(
        _ call: StaticString,
        _ path: String? = nil,
        _ body: () -> Value
    ) throws(SystemCallError) -> Value {
        while true {
            let value = body()
            if value != -1 { return value }
            try refuse(call, path)
        }
    }

    /// Gives `nil` where a call fails with one of these numbers.
    package static func unless<Value>(
        _ expected: [Int32],
        _ body: @autoclosure () throws(SystemCallError) -> Value
    ) throws(SystemCallError) -> Value? {
        do throws(SystemCallError) {
            return try body()
        } catch {
            if expected.contains(error.errorNumber) { return nil }
            throw error
        }
    }

    /// Opens a file, on a descriptor above those of the standard streams.
    ///
    /// In a process that was started without them, what anybody prints or logs would be written into the file.
    package static func opening(_ path: String? = nil, _ body: () -> Int32) throws(SystemCallError) -> Int32 {
        let descriptor = try retrying("open", path, body)
        return descriptor > STDERR_FILENO ? descriptor : try raised(descriptor)
    }

    @inline(never)
    static func raised(_ descriptor: Int32) throws(SystemCallError) -> Int32 {
        defer { closeAfterReading(descriptor) }
        return try retrying("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }
    }

    /// Opens what should be a regular file, without waiting for a FIFO's writer, following no link and never
    /// becoming the owner of a terminal.
    static func openToRead(_ path: UnsafePointer<CChar>, at: String? = nil) throws(SystemCallError) -> Int32 {
        let flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY
        #if canImport(Darwin)
        return try opening(at) { open(path, flags) }
        #else
        return try opening(at) { app_migrations_open(path, flags) }
        #endif
    }

    static func openEntry(_ path: String) throws(SystemCallError) -> Int32 { try openToRead(path, at: path) }

    package static func openDirectory(_ path: String, _ more: Int32 = 0) throws(SystemCallError) -> Int32 {
        try opening(path) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | more) }
    }

    package static func createExclusively(_ path: String) throws(SystemCallError) -> Int32 {
        let made = try opening(path) { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        do throws(SystemCallError) {
            try setPermissions(made, 0o600)
            return made
        } catch {
            closeAfterReading(made)
            throw error
        }
    }

    /// Makes an empty file, whose name is all that it says.
    static func makeMark(_ path: String) throws(SystemCallError) {
        try closeAfterWriting(createExclusively(path))
    }

    package static func openLock(_ path: String, making: Int32 = O_CREAT) throws(SystemCallError) -> Int32 {
        try opening { open(path, O_RDWR | making | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o600) }
    }

    static func fill(_ bytes: UnsafeMutableRawBufferPointer, of file: Int32) throws(SystemCallError) -> Int {
        try retrying("read") { read(file, bytes.baseAddress, bytes.count) }
    }

    static func writeAll(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ path: String? = nil)
        throws(SystemCallError)
    {
        var done = 0
        while done < count {
            let part = try retrying("write", path) { write(file, bytes?.advanced(by: done), count - done) }
            // POSIX gives 0 only when nothing was asked for; trying again for ever would hang.
            if part == 0 { throw SystemCallError(call: "write", errorNumber: EIO) }
            done += part
        }
    }

    /// Replaces a file in one step: another one is written, locked if asked for, synced and renamed; gives its descriptor, which is
    /// open.
    ///
    /// The caller syncs the folder.
    static func save(_ content: [UInt8], to path: String, in folder: String, isLocked: Bool = false)
        throws(SystemCallError) -> Int32
    {
        let new = path + ".tmp"
        let made = try unless([EEXIST], createExclusively(new))
        // The state's lock is held, so nobody is writing what stands there: a process was killed.
        if made == nil { try remove(new) }
        let descriptor = if let made { made } else { try createExclusively(new) }
        do throws(SystemCallError) {
            try writeAll(descriptor, content, content.count)
            try own(descriptor, in: folder, replacing: path)
            if isLocked, try !tryLock(descriptor) { throw failure("flock", new) }
            try synchronize(descriptor)
            try replace(path, with: new)
            return descriptor
        } catch {
            closeAfterReading(descriptor)
            // Where this fails, the next one that is written does it.
            _ = unlink(new)
            throw error
        }
    }

    /// Closes a descriptor that was only read: nothing can be lost by an error here.
    package static func closeAfterReading(_ descriptor: Int32) { _ = close(descriptor) }

    static func closeAfterWriting(_ descriptor: Int32) throws(SystemCallError) {
        if close(descriptor) == -1, errno != EINTR { throw failure("close") }
    }

    /// Renames; the error names the new path, unless `failing` is the one that says more.
    package static func replace(_ path: String, with new: String, failing: String? = nil)
        throws(SystemCallError)
    {
        _ = try retrying("rename", failing ?? path) { rename(new, path) }
    }

    /// Renames a thing whose path may be any bytes, with a NUL at their end; the error names `text`.
    static func move(_ old: [CChar], to path: String, failing text: String) throws(SystemCallError) {
        _ = try retrying("rename", text) { rename(old, path) }
    }

    package static func remove(_ path: String) throws(SystemCallError) {
        _ = try retrying("unlink", path) { unlink(path) }
    }

    static func makeDirectory(_ path: String) throws(SystemCallError) {
        _ = try retrying("mkdir", path) { mkdir(path, 0o700) }
        // Another thread may have set a strange umask, as is done around the `bind` of a socket.
        try makeWritable(path, FileStatus(ofEntry: path))
    }
}

/// A call of the operating system that failed: which one, on what, and its error number.
///
/// It comes as the ``MigrationError/underlyingError`` of errors that have to do with files.
public final class SystemCallError: Error, Sendable, CustomStringConvertible {
    /// The call's name, for instance `open`.
    public let call: String

    /// The error number the call left, POSIX's `errno`.
    public let errorNumber: Int32

    /// The file or folder that the call was about, where one was named.
    public let path: String?

    package init(call: String, errorNumber: Int32, path: String? = nil) {
        (self.call, self.errorNumber, self.path) = (call, errorNumber, path)
    }

    /// The path, the system's text for the error, the call and the number.
    public var description: String {
        let place = path.map { $0 + ": " } ?? ""
        return place + "\(String(cString: strerror(errorNumber))) (\(call), errno \(errorNumber))"
    }
}

extension SystemCallError {
    var isAbsent: Bool { Platform.absent.contains(errorNumber) }

    /// True if the system may have denied the file because the device is locked.
    package var isOfLockedDevice: Bool { Platform.locked.contains(errorNumber) }

    /// True if rights are missing, which the owner can give; not for what is immutable.
    var isDenied: Bool { Platform.isDenied(errorNumber) }

    /// This error with a path below another folder, if its path is below `old`.
    func moved(from old: String, to new: String) -> SystemCallError {
        guard let path, FilePaths.contains(old, path) else { return self }
        let place = new + String(decoding: path.utf8.dropFirst(old.utf8.count), as: UTF8.self)
        return SystemCallError(call: call, errorNumber: errorNumber, path: place)
    }

    /// This error with its path, where that isn't said.
    func at(_ place: String) -> SystemCallError {
        SystemCallError(call: call, errorNumber: errorNumber, path: path ?? place)
    }
}
