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
#else
#error("AppMigrations needs a POSIX C library: Darwin, Glibc, Musl or Android's.")
#endif

/// The calls of the C library that a start and a save make, and what a process knows of itself and of the time.
///
/// The files `Platform+….swift` beside it have the rest: locks, folders, syncs and copies. Nothing else names the C library.
///
/// Each call is tried again on `EINTR` but `close`, whose descriptor is gone on Linux by then.
package enum Platform {
    static var noEntry: Int32 { ENOENT }
    static var exists: Int32 { EEXIST }
    static var notADirectory: Int32 { ENOTDIR }
    static var nameTooLong: Int32 { ENAMETOOLONG }
    package static var notText: Int32 { EILSEQ }
    // An open of a locked device's file. Elsewhere EACCES is about rights, and ENOKEY about an encrypted folder.
    #if canImport(Darwin)
    package static var locked: [Int32] { [EPERM, EACCES] }
    #else
    package static var locked: [Int32] { [EPERM, ENOKEY] }
    #endif

    /// The error of a write of more than a state may have.
    static var tooLarge: SystemCallError { SystemCallError(call: "write", errorNumber: EFBIG) }

    static var wouldBlock: SystemCallError { SystemCallError(call: "flock", errorNumber: EWOULDBLOCK) }

    /// True if a link, a folder, a socket, a FIFO or a device is what stands at a path that could not be opened.
    static func isOtherThanFile(_ path: String) -> Bool {
        do throws(SystemCallError) {
            return try FileStatus(ofEntry: path).kind != .file
        } catch {
            // Where the look fails too, the first error is the one to tell.
            return false
        }
    }

    static func text(ofError number: Int32) -> String { String(cString: strerror(number)) }

    package static func failure(_ call: StaticString, _ path: String? = nil) -> SystemCallError {
        let number = errno
        return SystemCallError(call: call.description, errorNumber: number, path: path)
    }

    /// After a call that returned -1: throws, unless a signal interrupted it.
    @inline(never)
    static func refuse(_ call: StaticString, _ path: String?) throws(SystemCallError) {
        if errno != EINTR { throw failure(call, path) }
    }

    /// Repeats a call that a signal interrupted, and throws what else made it return -1.
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

    /// Opens a file, on a descriptor above those of the standard streams.
    ///
    /// In a process that was started without them, what anybody prints or logs would be written into the file.
    @inline(__always)
    package static func opening(_ body: () -> Int32) throws(SystemCallError) -> Int32 {
        let descriptor = try retrying("open", nil, body)
        return descriptor > STDERR_FILENO ? descriptor : try raised(descriptor)
    }

    @inline(never)
    static func raised(_ descriptor: Int32) throws(SystemCallError) -> Int32 {
        defer { closeAfterReading(descriptor) }
        return try retrying("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }
    }

    /// Opens what should be a regular file, without waiting for a FIFO's writer, following no link and never
    /// becoming the owner of a terminal.
    @inline(__always)
    static func openToRead(_ path: UnsafePointer<CChar>) throws(SystemCallError) -> Int32 {
        let flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY
        #if canImport(Darwin)
        return try opening { open(path, flags) }
        #else
        return try opening { app_migrations_open(path, flags) }
        #endif
    }

    /// Repeats a call, with the path in the error.
    static func openEntry(_ path: String) throws(SystemCallError) -> Int32 {
        try at(path) { () throws(SystemCallError) in try openToRead(path) }
    }

    package static func openDirectory(_ path: String, _ more: Int32 = 0) throws(SystemCallError) -> Int32 {
        try opening { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | more) }
    }

    package static func createExclusively(_ path: String) throws(SystemCallError) -> Int32 {
        try opening { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
    }

    package static func openLock(_ path: String, making: Int32 = O_CREAT) throws(SystemCallError) -> Int32 {
        try opening { open(path, O_RDWR | making | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o600) }
    }

    @inline(__always)
    static func fill(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32) throws(SystemCallError)
        -> Int
    {
        try retrying("read") { read(descriptor, buffer.baseAddress, buffer.count) }
    }

    static func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = try retrying("write") { write(descriptor, part.baseAddress, part.count) }
            // POSIX gives 0 only when nothing was asked for; trying again for ever would hang.
            if count == 0 { throw SystemCallError(call: "write", errorNumber: EIO) }
            rest = rest.dropFirst(count)
        }
    }

    static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) throws(SystemCallError) {
        try bytes.withUnsafeBufferPointer { bytes throws(SystemCallError) in
            try writeAll(descriptor, UnsafeRawBufferPointer(bytes))
        }
    }

    /// Closes a descriptor that was only read: nothing can be lost by an error here.
    @inline(__always)
    package static func closeAfterReading(_ descriptor: Int32) { _ = close(descriptor) }

    static func closeAfterWriting(_ descriptor: Int32) throws(SystemCallError) {
        if close(descriptor) == -1, errno != EINTR { throw failure("close") }
    }

    package static func replace(_ path: String, with new: String) throws(SystemCallError) {
        _ = try retrying("rename") { rename(new, path) }
    }

    package static func removeFile(_ path: String) throws(SystemCallError) {
        _ = try retrying("unlink") { unlink(path) }
    }

    static func makeDirectory(_ path: String) throws(SystemCallError) {
        _ = try retrying("mkdir") { mkdir(path, 0o700) }
    }

    /// The bytes of a regular file; `nil` for anything else, and for more than `limit` bytes.
    static func contents(ofFile path: String, limit: Int) throws(SystemCallError) -> [UInt8]? {
        let descriptor = try openToRead(path)
        defer { closeAfterReading(descriptor) }
        return try contents(ofOpen: descriptor, limit: limit)
    }

    /// The bytes of a file that is open.
    package static func contents(ofOpen descriptor: Int32, limit: Int) throws(SystemCallError) -> [UInt8]? {
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

    package static var process: Int32 { getpid() }

    /// Seconds since 1970, within the years that a state can hold, whatever the clock says.
    package static var now: Int64 { min(max(Int64(time(nil)), 0), 253_402_300_799) }

    /// The time of `ContinuousClock`, without its types, which are looked up when a program is loaded.
    package static var uptime: Duration {
        #if os(Linux) || os(Android)
        reading(CLOCK_BOOTTIME)
        #else
        // clock_gettime(3): unlike CLOCK_MONOTONIC it isn't affected by adjustments of the time.
        reading(CLOCK_MONOTONIC_RAW)
        #endif
    }

    /// Time that passes while the machine is awake: a wait isn't over because a lid was closed.
    ///
    /// clock_gettime(2), clock_gettime(3): of the clocks that nobody can set, Linux's `CLOCK_MONOTONIC` and Apple's
    /// `CLOCK_UPTIME_RAW` stand still while the system sleeps.
    package static var awake: Duration {
        #if canImport(Darwin)
        reading(CLOCK_UPTIME_RAW)
        #else
        reading(CLOCK_MONOTONIC)
        #endif
    }

    private static func reading(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// For the pauses of a wait, which are short and not negative.
    package static func nanoseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    @inline(never)
    package static func pause(_ duration: Duration) {
        let (seconds, nanoseconds) = nanoseconds(duration).quotientAndRemainder(dividingBy: 1_000_000_000)
        var rest = timespec(tv_sec: time_t(seconds), tv_nsec: Int(nanoseconds))
        // A signal may cut the pause short: the caller asks the clock anyway.
        nanosleep(&rest, nil)
    }

    /// Memory for as many bytes, aligned for whatever a struct may hold.
    ///
    /// Swift's own function asks the C library for an alignment, so three functions would have to be found at a start.
    static func allocate(_ count: Int) -> UnsafeMutableRawPointer { malloc(count) }

    static func deallocate(_ block: UnsafeMutableRawPointer) { free(block) }
}
