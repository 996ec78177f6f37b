/// Waiting for a state's lock, step by step: the synchronous and the asynchronous caller differ only in how they
/// let the time between two steps pass.
struct LockWait {
    /// Whether the calls that came earlier to the same manager are done.
    enum Turn { case now, later, afterAsynchronousCall }

    /// Who waits: a call on its thread, a task, or a start on its thread that lets a restore come to its end.
    ///
    /// A restore goes on without anybody's thread but its own, so a start can wait where a call would wait for itself.
    enum Caller { case synchronous, asynchronous, start }

    enum Step { case taken(FileLock), pause(Duration) }

    private let location: StateLocation
    private let version: AppVersion?
    private let timeout: Duration?
    private let onEvent: (@Sendable (MigrationEvent) -> Void)?
    private let caller: Caller
    private var lock: FileLock
    private var began: Duration?
    private var pause = Duration.milliseconds(1)

    private static var longestPause: Duration { .milliseconds(32) }

    @inline(never)
    init(
        _ location: StateLocation,
        version: AppVersion?,
        timeout: Duration?,
        onEvent: (@Sendable (MigrationEvent) -> Void)?,
        _ caller: Caller
    ) throws(MigrationError) {
        self.location = location
        self.version = version
        self.timeout = timeout
        self.onEvent = onEvent
        self.caller = caller
        lock = try FileLock.open(location)
        do throws(MigrationError) {
            if try RunToken.enclosing(location, lock: lock.identity) != nil {
                throw .nested(location, version)
            }
        } catch {
            lock.unlock()
            throw error
        }
    }

    /// Tries once.
    ///
    /// After a throw, the wait is over and its file closed.
    @inline(never)
    mutating func step(_ turn: Turn) throws(MigrationError) -> Step {
        do throws(MigrationError) {
            // The thread that would wait here may be the one on which the other call is to go on.
            if turn == .afterAsynchronousCall, caller == .synchronous {
                throw MigrationError.nested(location, version)
            }
            if turn == .now {
                switch try lock.tryLock(location, isAsynchronous: caller == .asynchronous) {
                case .taken: return .taken(lock)
                case .held, .claimed: break
                case .lost:
                    lock.unlock()
                    lock = try FileLock.open(location)
                }
            }
            return .pause(try nextPause())
        } catch {
            lock.unlock()
            throw error
        }
    }

    func abandon() { lock.unlock() }

    private mutating func nextPause() throws(MigrationError) -> Duration {
        if caller == .synchronous, lock.isHeldAsynchronouslyHere { throw .nested(location, version) }
        if Task.isCancelled { throw .cancelledWaiting(location, version) }
        let now = Platform.awake
        let began = began ?? now
        if self.began == nil {
            self.began = began
            let event = MigrationEvent(.waiting, location.name, version: version)
            RunToken.telling(event, of: location, lock: lock.identity, onEvent)
        }
        let next = pause
        pause = min(pause * 2, Self.longestPause)
        guard let timeout else { return next }
        let left = timeout - (now - began)
        if left <= .zero { throw timedOut(timeout) }
        return min(next, left)
    }

    private func timedOut(_ timeout: Duration) -> MigrationError {
        do throws(SystemCallError) {
            let holder = try lock.holder().map { "process \($0)" } ?? "a process that can't be named"
            return .lockTimeout(timeout, heldBy: holder, nil, location, version)
        } catch {
            return .lockTimeout(timeout, heldBy: "a process that can't be named", error, location, version)
        }
    }
}
