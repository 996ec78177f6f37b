import AppMigrationsSystem

/// A value behind a lock, so that only one thread at a time can access it.
///
/// The standard library's `Mutex` does the same, but it is in a separate dynamic library. Loading that
/// library before the app's first line takes as long as everything that AppMigrations does at a start. This
/// type uses the C library's lock instead. It is a struct of pointers, so that the runtime doesn't have to
/// build the metadata of a generic class at a start. It accesses the value without exclusivity checks, which
/// the lock makes unnecessary.
package struct Guarded<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ value: consuming Value) {
        let offset = Self.offset
        // Call `malloc` directly: Swift's own allocation asks the C library for an alignment, so the dynamic
        // linker would have to look up three more functions at a start.
        let block: UnsafeMutableRawPointer = malloc(offset + MemoryLayout<Value>.size)
        mutex = block.assumingMemoryBound(to: pthread_mutex_t.self)
        self.value = (block + offset).assumingMemoryBound(to: Value.self)
        // On systems other than Apple's, `PTHREAD_MUTEX_INITIALIZER` is zero bytes, and the mutex need not be
        // destroyed. Looking up `pthread_mutex_init` and `pthread_mutex_destroy` at every start of the app
        // would take as long as checking six migrations that have already run.
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
