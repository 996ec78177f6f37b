import AppMigrationsSystem

/// The calls of the C library that are made when a manager is created and when its state is saved.
///
/// The other files of this folder contain the rest: locks, folders, syncing and copying.
///
/// No code of this module outside this folder calls the C library. Each call except `close` is repeated after
/// `EINTR`. On Linux, `close` releases the descriptor even if it fails with `EINTR`. So a second call could
/// close a file that another thread has opened since.
package enum Platform {
    /// `ENOENT`, for code outside this folder.
    static var noEntry: Int32 { ENOENT }

    /// The `errno` values that mean "no such file".
    static var missingFile: [Int32] { [ENOENT, ENOTDIR] }

    /// The `errno` values that mean that permissions are missing, or that a sandbox refuses the call.
    static var forbidden: [Int32] { [EACCES, EPERM] }

    /// The `errno` value for bytes that are not UTF-8.
    package static var notText: Int32 { EILSEQ }

    /// The `errno` values that mean "the disk is full", or "the user's quota is used up".
    static var fullDisk: [Int32] { [ENOSPC, EDQUOT] }

    /// The `errno` values that mean "this user may not do that", or "the file system is read-only".
    static var missingPermission: [Int32] { forbidden + [EROFS] }

    /// True if the user of this system can change the permissions of an app's files.
    static var letsUsersChangePermissions: Bool {
        #if os(macOS) || targetEnvironment(macCatalyst)
        true
        #elseif canImport(Darwin) || os(Android)
        false
        #else
        true
        #endif
    }

    /// The `errno` values with which opening a file can fail while the device is locked.
    static var lockedDevice: [Int32] {
        #if canImport(Darwin)
        [EPERM, EACCES]
        #else
        // On Linux, EACCES only means that permissions are missing. ENOKEY means that the file is in an
        // encrypted folder whose key is missing.
        [EPERM, ENOKEY]
        #endif
    }

    /// The error of the call that has just failed, from `errno`.
    package static func lastError(_ call: StaticString, at path: String? = nil) -> SystemCallError {
        let number = errno
        return SystemCallError(call: call.description, errorNumber: number, path: path)
    }

    /// Throws the error of a call that returned -1, unless a signal interrupted the call (`EINTR`).
    @inline(never)
    static func throwUnlessInterrupted(_ call: StaticString, at path: String?) throws(SystemCallError) {
        if errno != EINTR { throw lastError(call, at: path) }
    }

    /// Makes a call, and repeats it as long as it fails with `EINTR`.
    ///
    /// Any other error is thrown.
    @inline(__always)
    package static func retrying<Value: SignedInteger>(
        _ call: StaticString,
        at path: String? = nil,
        _ body: () -> Value
    ) throws(SystemCallError) -> Value {
        while true {
            let value = body()
            if value != -1 { return value }
            try throwUnlessInterrupted(call, at: path)
        }
    }

    /// Returns `nil` if a call fails with one of these `errno` values.
    package static func ignoring<Value>(
        _ numbers: [Int32],
        _ body: @autoclosure () throws(SystemCallError) -> Value
    ) throws(SystemCallError) -> Value? {
        do throws(SystemCallError) {
            return try body()
        } catch {
            if numbers.contains(error.errorNumber) { return nil }
            throw error
        }
    }

    /// Returns `nil` if a call fails because there is no such file.
    static func ignoringMissing<Value>(
        _ body: @autoclosure () throws(SystemCallError) -> Value
    ) throws(SystemCallError) -> Value? {
        try ignoring(missingFile, body())
    }

    /// Opens a file, and makes sure that its descriptor isn't 0, 1 or 2 (the standard streams).
    ///
    /// If a process was started without the standard streams, the first files that it opens get these
    /// descriptors. Everything that is printed or logged would then be written into those files.
    package static func opening(_ path: String? = nil, _ body: () -> Int32) throws(SystemCallError) -> Int32 {
        let descriptor = try retrying("open", at: path, body)
        return descriptor > STDERR_FILENO ? descriptor : try movedAboveStandardStreams(descriptor)
    }

    @inline(never)
    static func movedAboveStandardStreams(_ descriptor: Int32) throws(SystemCallError) -> Int32 {
        defer { closeAfterReading(descriptor) }
        return try retrying("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }
    }

    /// Opens a file that should be a regular file.
    ///
    /// If it isn't a regular file, the call still returns at once: it doesn't wait for the writer of a FIFO,
    /// doesn't follow a link, and doesn't make a terminal the controlling terminal of this process.
    static func openToRead(_ path: UnsafePointer<CChar>, at: String? = nil) throws(SystemCallError) -> Int32 {
        let flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY
        #if canImport(Darwin)
        return try opening(at) { open(path, flags) }
        #else
        return try opening(at) { app_migrations_open(path, flags) }
        #endif
    }

    /// Opens a file like ``openToRead(_:at:)``, with the path in its errors.
    static func openEntry(_ path: String) throws(SystemCallError) -> Int32 { try openToRead(path, at: path) }

    package static func openDirectory(_ path: String, adding flags: Int32 = 0) throws(SystemCallError)
        -> Int32
    {
        try opening(path) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags) }
    }

    /// Creates an empty file that only this user can read and write, and opens it for writing.
    ///
    /// It throws `EEXIST` if anything exists at the path.
    package static func createExclusively(_ path: String) throws(SystemCallError) -> Int32 {
        let made = try opening(path) { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        do throws(SystemCallError) {
            try setPermissions(ofNew: made, 0o600)
            return made
        } catch {
            closeAfterReading(made)
            throw error
        }
    }

    package static func openLock(_ path: String, making: Int32 = O_CREAT) throws(SystemCallError) -> Int32 {
        try opening { open(path, O_RDWR | making | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o600) }
    }

    /// Calls `read` once.
    ///
    /// Returns the number of bytes that were read, or 0 at the end of the file.
    static func fill(_ bytes: UnsafeMutableRawBufferPointer, of file: Int32) throws(SystemCallError) -> Int {
        try retrying("read") { read(file, bytes.baseAddress, bytes.count) }
    }

    static func writeAll(
        _ bytes: UnsafeRawPointer?,
        count: Int,
        to file: Int32,
        at path: String? = nil
    ) throws(SystemCallError) {
        var done = 0
        while done < count {
            let part = try retrying("write", at: path) {
                write(file, bytes?.advanced(by: done), count - done)
            }
            // `write` returns 0 only if there was nothing to write (POSIX). If it returned 0 for another
            // reason, repeating it could go on forever.
            if part == 0 { throw SystemCallError(call: "write", errorNumber: EIO) }
            done += part
        }
    }

    /// Replaces a file in one step: writes a temporary file, syncs it and renames it.
    ///
    /// The caller must then sync the folder.
    static func save(_ content: [UInt8], to path: String, in folder: String) throws(SystemCallError) {
        let new = path + ".tmp"
        let descriptor: Int32
        if let made = try ignoring([EEXIST], createExclusively(new)) {
            descriptor = made
        } else {
            // The caller holds the state's lock, so no other process is writing the temporary file. It is
            // left from a process that was killed.
            try remove(new)
            descriptor = try createExclusively(new)
        }
        // The file is synced before it is closed, so no data is lost if closing it fails.
        defer { closeAfterReading(descriptor) }
        do throws(SystemCallError) {
            try writeAll(content, count: content.count, to: descriptor)
            try giveOwnership(of: descriptor, toOwnerOf: folder, replacing: path)
            try synchronize(descriptor)
            try replace(path, with: new)
        } catch {
            // An error of this call is ignored: the next save removes the temporary file.
            _ = unlink(new)
            throw error
        }
    }

    /// Closes a descriptor that was only read, or whose writing has already failed.
    ///
    /// An error of `close` is ignored, because no data that is still needed can be lost.
    package static func closeAfterReading(_ descriptor: Int32) { _ = close(descriptor) }

    static func closeAfterWriting(_ descriptor: Int32) throws(SystemCallError) {
        if close(descriptor) == -1, errno != EINTR { throw lastError("close") }
    }

    /// Renames the item at `new` to `path`, and replaces the item at `path` if there is one.
    package static func replace(_ path: String, with new: String) throws(SystemCallError) {
        _ = try retrying("rename", at: path) { rename(new, path) }
    }

    package static func remove(_ path: String) throws(SystemCallError) {
        _ = try retrying("unlink", at: path) { unlink(path) }
    }

    /// Creates a folder that only this user can access.
    static func makeDirectory(_ path: String) throws(SystemCallError) {
        _ = try retrying("mkdir", at: path) { mkdir(path, 0o700) }
        // The folder may have been created with too few permissions: another thread may have changed the
        // umask for a moment, for example while it binds a socket.
        try makeWritable(path)
    }
}
