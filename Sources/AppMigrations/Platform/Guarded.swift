import AppMigrationsSystem

/// A value that only one thread at a time can reach.
///
/// The standard library's `Mutex` does the same. But it is in a library of its own, and loading that takes as
/// long as a whole start of this library: a process would pay for it before the app's first line. This type
/// uses the C library's lock instead. It is a struct of pointers, so that no generic class is built at a
/// start, and it reaches the value without exclusivity checks, which the lock makes unnecessary.
package struct Guarded<Value>: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ value: Value) {
        let offset = Self.offset
        // Swift's own allocation asks the C library for an alignment: three functions that would have to be
        // looked up at a start.
        let block: UnsafeMutableRawPointer = malloc(offset + MemoryLayout<Value>.size)
        mutex = block.assumingMemoryBound(to: pthread_mutex_t.self)
        self.value = (block + offset).assumingMemoryBound(to: Value.self)
        // Elsewhere, `PTHREAD_MUTEX_INITIALIZER` is zero bytes, and nothing has to be destroyed. Looking up
        // the two functions would cost a start as much as six skipped versions.
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
