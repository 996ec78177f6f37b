import AppMigrationsSystem

/// The locks between processes and between threads.
extension Platform {
    package static func tryLock(_ descriptor: Int32, sharing: Bool = false) throws(SystemCallError) -> Bool {
        let kind = sharing ? LOCK_SH : LOCK_EX
        return try unless([EWOULDBLOCK], retrying("flock") { flock(descriptor, kind | LOCK_NB) }) != nil
    }

    /// True if a process has the lock of a file; makes no file, and waits for no process.
    ///
    /// A shared lock is asked for, since NFS gives an exclusive lock only to a descriptor that may write (flock(2)).
    static func isLocked(_ path: String) throws(SystemCallError) -> Bool {
        guard let descriptor = try unless(absent, openEntry(path)) else { return false }
        defer { unlock(descriptor) }
        return try !tryLock(descriptor, sharing: true)
    }

    static func release(_ descriptor: Int32) { flock(descriptor, LOCK_UN) }

    /// Gives the lock back and closes the file.
    ///
    /// A child that was made past the C library's `fork` shares the lock, so closing isn't enough.
    package static func unlock(_ descriptor: Int32) {
        release(descriptor)
        close(descriptor)
    }

    /// Writes which process has the lock, for people; a failure leaves it unnamed.
    ///
    /// The line has always as many bytes, so that no older one shows behind it.
    static func writeHolder(_ descriptor: Int32) {
        let number = String(process)
        let line = number + String(repeating: " ", count: 11 - number.utf8.count) + "\n"
        // A disk without room for twelve bytes is told of by the save that comes next.
        _ = write(descriptor, line, line.utf8.count)
    }
}

/// The process, and the times that a wait, a closure and a state tell.
extension Platform {
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
}

/// A value that one thread at a time can reach.
///
/// The standard library's `Mutex` does the same, and comes in a library of its own, whose loading takes as long as this
/// library's whole start: a process of an app pays for it before its first line. This one uses the C library's lock, is a
/// struct of one pointer so that no generic type is built at a start, and reaches the value without the checks of exclusive
/// access, which the lock makes needless.
package struct Guarded<Value>: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ value: Value) {
        let offset = Self.offset
        // Swift's own function asks the C library for an alignment, so three functions would have to be found at a start.
        let block: UnsafeMutableRawPointer = malloc(offset + MemoryLayout<Value>.size)
        mutex = block.assumingMemoryBound(to: pthread_mutex_t.self)
        self.value = (block + offset).assumingMemoryBound(to: Value.self)
        // Elsewhere `PTHREAD_MUTEX_INITIALIZER` is zero bytes and nothing has to be given back; to look up two more functions in
        // the C library would cost a start as much as six skipped versions.
        #if canImport(Darwin)
        pthread_mutex_init(mutex, nil)
        #else
        mutex.initialize(to: pthread_mutex_t())
        #endif
        self.value.initialize(to: value)
    }

    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }

    deinit {
        value.deinitialize(count: 1)
        #if canImport(Darwin)
        pthread_mutex_destroy(mutex)
        #endif
        free(mutex)
    }

    private static var offset: Int { (MemoryLayout<pthread_mutex_t>.size + 15) & ~15 }
}
