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
    /// Takes the lock of an open file without waiting; `false` when somebody else has it.
    static func tryLock(_ descriptor: Int32, sharing: Bool = false) throws(SystemCallError) -> Bool {
        let kind = sharing ? LOCK_SH : LOCK_EX
        do throws(SystemCallError) {
            _ = try retrying("flock") { flock(descriptor, kind | LOCK_NB) }
            return true
        } catch {
            if error.errorNumber == EWOULDBLOCK { return false }
            throw error
        }
    }

    /// Gives the lock back and closes the file.
    ///
    /// A child made by `fork` alone shares the lock, so closing isn't enough.
    static func unlock(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Lets others ask which process has the lock, by a record lock on the same file.
    ///
    /// It is a sign, not the lock: POSIX drops it with any descriptor of the file that its process closes, and a file
    /// system that has none only leaves the holder unnamed. Nothing is written, so a save stays one of one file.
    static func sign(_ descriptor: Int32) {
        var record = flock()
        record.l_type = Int16(F_WRLCK)
        record.l_whence = Int16(SEEK_SET)
        _ = fcntl(descriptor, F_SETLK, &record)
    }

    /// The process that signed the lock, if another one did.
    static func signer(_ descriptor: Int32) throws(SystemCallError) -> Int32? {
        var record = flock()
        record.l_type = Int16(F_WRLCK)
        record.l_whence = Int16(SEEK_SET)
        _ = try retrying("fcntl") { fcntl(descriptor, F_GETLK, &record) }
        return record.l_type == Int16(F_UNLCK) ? nil : record.l_pid
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
