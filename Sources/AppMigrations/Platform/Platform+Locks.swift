#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The locks between processes and between threads.
extension Platform {
    /// Takes the lock of an open file without waiting; `false` when it is taken.
    package static func tryLock(_ descriptor: Int32, sharing: Bool = false) throws(SystemCallError) -> Bool {
        let kind = sharing ? LOCK_SH : LOCK_EX
        do throws(SystemCallError) {
            _ = try retrying("flock") { flock(descriptor, kind | LOCK_NB) }
            return true
        } catch {
            if error.errorNumber == EWOULDBLOCK { return false }
            throw error
        }
    }

    /// Gives the lock back and leaves the file open.
    static func release(_ descriptor: Int32) { flock(descriptor, LOCK_UN) }

    /// Gives the lock back and closes the file.
    ///
    /// A child that was made past the C library's `fork` shares the lock, so closing isn't enough.
    static func unlock(_ descriptor: Int32) {
        release(descriptor)
        close(descriptor)
    }

    /// Lets others ask which process has the lock, by a record lock on the same file.
    ///
    /// It is a sign, not the lock: POSIX drops it with any descriptor of the file that its process closes, and a file
    /// system that has none only leaves the holder unnamed. Nothing is written, so a save stays one of one file.
    ///
    /// On Apple's systems the holder stays unnamed: both kinds of lock are one there, and a file that is locked by `flock`
    /// is locked for record locks too, with -1 for the process (flock(2), fcntl(2)).
    static func sign(_ descriptor: Int32) {
        #if !canImport(Darwin)
        var record = flock()
        record.l_type = Int16(F_WRLCK)
        record.l_whence = Int16(SEEK_SET)
        _ = fcntl(descriptor, F_SETLK, &record)
        #endif
    }

    /// The process that signed the lock, if another one did that has a number here.
    ///
    /// Linux gives 0 for a process outside of the caller's PID namespace, as in another container (pid_namespaces(7)); of a
    /// client of a network file system no process is known.
    static func signer(_ descriptor: Int32) throws(SystemCallError) -> Int32? {
        let record = try record(descriptor)
        return record.l_type == Int16(F_UNLCK) ? nil : namable(record.l_pid)
    }

    /// Whether another process signed the lock, or on Apple's systems has it; takes no lock.
    static func isSigned(_ descriptor: Int32) throws(SystemCallError) -> Bool {
        try record(descriptor).l_type != Int16(F_UNLCK)
    }

    private static func record(_ descriptor: Int32) throws(SystemCallError) -> flock {
        var record = flock()
        record.l_type = Int16(F_WRLCK)
        record.l_whence = Int16(SEEK_SET)
        _ = try retrying("fcntl") { fcntl(descriptor, F_GETLK, &record) }
        return record
    }

    static func namable(_ process: Int32) -> Int32? { process > 0 ? process : nil }

    /// Calls the handlers whenever the C library's `fork` makes a child; gives 0 or the error's number.
    static func registerForkHandlers(
        prepare: @convention(c) () -> Void,
        parent: @convention(c) () -> Void,
        child: @convention(c) () -> Void
    ) -> Int32 {
        pthread_atfork(prepare, parent, child)
    }

    /// Time that passes while the machine is awake: a wait isn't over because a lid was closed.
    ///
    /// clock_gettime(2), clock_gettime(3): of the clocks that nobody can set, Linux's `CLOCK_MONOTONIC` and Apple's
    /// `CLOCK_UPTIME_RAW` stand still while the system sleeps.
    package static var awake: Duration {
        var time = timespec()
        #if canImport(Darwin)
        clock_gettime(CLOCK_UPTIME_RAW, &time)
        #else
        clock_gettime(CLOCK_MONOTONIC, &time)
        #endif
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    typealias Mutex = pthread_mutex_t

    // Elsewhere than on Apple's systems `PTHREAD_MUTEX_INITIALIZER` is zero bytes and nothing has to be given back; to
    // look up two more functions in the C library would cost a start as much as six skipped versions.
    static func initialize(_ mutex: UnsafeMutablePointer<Mutex>) {
        #if canImport(Darwin)
        pthread_mutex_init(mutex, nil)
        #else
        mutex.initialize(to: Mutex())
        #endif
    }

    @inline(__always)
    static func lock(_ mutex: UnsafeMutablePointer<Mutex>) { pthread_mutex_lock(mutex) }

    @inline(__always)
    static func unlock(_ mutex: UnsafeMutablePointer<Mutex>) { pthread_mutex_unlock(mutex) }

    static func destroy(_ mutex: UnsafeMutablePointer<Mutex>) {
        #if canImport(Darwin)
        pthread_mutex_destroy(mutex)
        #endif
    }
}
