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

    /// True if a process has the lock of a file; makes no file, and waits for no process.
    ///
    /// A shared lock is asked for, since NFS gives an exclusive lock only to a descriptor that may write (flock(2)).
    static func isLocked(_ path: String) throws(SystemCallError) -> Bool {
        let descriptor: Int32
        do throws(SystemCallError) {
            descriptor = try openEntry(path)
        } catch {
            if error.isAbsent { return false }
            throw error
        }
        defer { unlock(descriptor) }
        return try !tryLock(descriptor, sharing: true)
    }

    /// Gives the lock back and leaves the file open.
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
        do throws(SystemCallError) {
            try writeAll(descriptor, Array(line.utf8))
        } catch {
            // A disk without room for twelve bytes is told of by the save that comes next.
        }
    }

    /// The process that the line names; `nil` where it names none.
    static func readHolder(_ descriptor: Int32) -> Int32? {
        withUnsafeTemporaryAllocation(byteCount: 12, alignment: 1) { line in
            do throws(SystemCallError) {
                let count = try fill(line, from: descriptor)
                return Int32(String(decoding: line[..<count].prefix { $0 != 0x20 }, as: UTF8.self))
            } catch {
                return nil
            }
        }
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

/// A value that one thread at a time can reach.
///
/// The standard library's `Mutex` does the same, and comes in a library of its own, whose loading takes as long as this
/// library's whole start: a process of an app pays for it before its first line. This one uses the C library's lock, is a
/// struct of one pointer so that no generic type is built at a start, and reaches the value without the checks of exclusive
/// access, which the lock makes needless.
package struct Guarded<Value>: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<Platform.Mutex>
    private let value: UnsafeMutablePointer<Value>

    package init(_ value: Value) {
        let offset = Self.offset
        let block = Platform.allocate(offset + MemoryLayout<Value>.size)
        mutex = block.assumingMemoryBound(to: Platform.Mutex.self)
        self.value = (block + offset).assumingMemoryBound(to: Value.self)
        Platform.initialize(mutex)
        self.value.initialize(to: value)
    }

    @inline(__always)
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        Platform.lock(mutex)
        defer { Platform.unlock(mutex) }
        return try body(&value.pointee)
    }

    deinit {
        value.deinitialize(count: 1)
        Platform.destroy(mutex)
        Platform.deallocate(mutex)
    }

    private static var offset: Int { (MemoryLayout<Platform.Mutex>.size + 15) & ~15 }
}
