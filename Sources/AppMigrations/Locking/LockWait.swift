/// A wait for a state's lock, step by step: the synchronous and the asynchronous caller differ only in how they
/// let the time between two steps pass.
struct LockWait {
    /// A call that waits on its thread, a task, or a start that waits on its thread until files are put back.
    ///
    /// The process that puts files back needs only the thread that does it. So a start can wait for it where a call, which
    /// may wait for a closure that is to go on on the call's own thread, would wait for itself.
    enum Caller { case synchronous, asynchronous, start }

    enum Step { case taken(FileLock), pause(Duration) }

    private let location: StateLocation
    private let timeout: Duration?
    private let caller: Caller
    private var lock: FileLock
    private var began: Duration?
    private var pause = Duration.milliseconds(1)

    private static var longestPause: Duration { .milliseconds(32) }

    @inline(never)
    init(_ location: StateLocation, timeout: Duration?, _ caller: Caller) throws(LockFailure) {
        self.location = location
        self.timeout = timeout
        self.caller = caller
        lock = try FileLock.open(location)
        do throws(LockFailure) {
            if try RunToken.isInside(location, lock: lock.identity) { throw .nested }
        } catch {
            lock.unlock()
            throw error
        }
    }

    /// Tries once; `onWait` is called before the first pause.
    ///
    /// After a throw, the wait is over and its file closed.
    @inline(never)
    mutating func step(_ onWait: () -> Void) throws(LockFailure) -> Step {
        do throws(LockFailure) {
            switch try lock.tryLock(location, isAsynchronous: caller == .asynchronous) {
            case .taken: return .taken(lock)
            case .held, .claimed: break
            case .lost:
                lock.unlock()
                lock = try FileLock.open(location)
            }
            return .pause(try nextPause(onWait))
        } catch {
            lock.unlock()
            throw error
        }
    }

    func abandon() { lock.unlock() }

    private mutating func nextPause(_ onWait: () -> Void) throws(LockFailure) -> Duration {
        // To wait here would block this thread, and the closure may need this very thread to go on.
        if caller == .synchronous, lock.isHeldAsynchronouslyHere { throw .nested }
        if Task.isCancelled { throw .cancelled }
        let now = Platform.awake
        let began = began ?? now
        if self.began == nil {
            self.began = began
            RunToken.marking(location, lock: lock.identity, onWait)
        }
        let next = pause
        pause = min(pause * 2, Self.longestPause)
        guard let timeout else { return next }
        let left = timeout - (now - began)
        if left <= .zero { throw timedOut(timeout) }
        return min(next, left)
    }

    private func timedOut(_ timeout: Duration) -> LockFailure {
        do throws(SystemCallError) {
            return .timedOut(timeout, holder: try lock.holder(), nil)
        } catch {
            return .timedOut(timeout, holder: nil, error)
        }
    }
}
