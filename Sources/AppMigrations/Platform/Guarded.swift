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
