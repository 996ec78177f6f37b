/// A wait for a state's lock, step by step: the synchronous and the asynchronous caller differ only in how they
/// let the time between two steps pass.
struct LockWait {
    /// A call that waits on its thread, a task, or a start that waits on its thread until files are put back.
    ///
    /// The process that puts files back needs only the thread that does it. So a start can wait for it where a call, which
    /// may wait for a closure that is to go on on the call's own thread, would wait for itself.
    enum Caller { case synchronous, asynchronous, start }

    private let location: StateLocation
    private let version: AppVersion?
    private let timeout: Duration?
    private let caller: Caller
    private var lock: FileLock
    private var began: Duration?
    private var nextPause = Duration.milliseconds(1)

    /// How long to wait before the next step.
    private(set) var pause = Duration.zero

    private static var longestPause: Duration { .milliseconds(32) }

    /// A process that only looks has the lock for a moment, which is no reason to give up.
    private static var shortestTimeout: Duration { .milliseconds(10) }

    init(
        _ location: StateLocation,
        _ version: AppVersion?,
        timeout: Duration?,
        _ caller: Caller
    ) throws(MigrationError) {
        self.location = location
        self.version = version
        self.timeout = timeout
        self.caller = caller
        lock = try FileLock.open(location)
        do throws(SystemCallError) {
            if try RunToken.enclosing(location) == nil { return }
        } catch {
            throw .unreadable(error, location)
        }
        throw .nested(location, version)
    }

    /// Tries once: the lock, or `nil` where it isn't free; `onWait` is called before the first pause.
    mutating func step(_ onWait: () -> Void) throws(MigrationError) -> FileLock? {
        switch try lock.take(location, isAsynchronous: caller == .asynchronous) {
        case .taken: return lock
        case .held, .claimed: break
        case .lost: lock = try FileLock.open(location)
        }
        // To wait here would block this thread, and the closure may need this very thread to go on.
        if caller == .synchronous, FileLock.isHeldAsynchronously(lock.identity) {
            throw .nested(location, version)
        }
        if Task.isCancelled { throw cancelled() }
        let now = Platform.awake
        let began = began ?? now
        if self.began == nil {
            self.began = began
            RunToken.marking(location, onWait)
        }
        pause = nextPause
        nextPause = min(nextPause * 2, Self.longestPause)
        if let timeout {
            let left = max(timeout, Self.shortestTimeout) - (now - began)
            if left <= .zero { throw timedOut(timeout) }
            pause = min(pause, left)
        }
        return nil
    }

    func cancelled() -> MigrationError {
        location.error(
            .cancelled,
            version,
            at: location.lock,
            because: CancellationError(),
            """
            The task was cancelled while manager \(location.name.quoted) waited for the lock \(location.lock). \
            Nothing was run. Make a new manager to try again.
            """
        )
    }

    private func timedOut(_ timeout: Duration) -> MigrationError {
        let holder = lock.holder().map { "process \($0)" } ?? "a process that can't be named"
        return location.error(
            .lockTimeout,
            version,
            at: location.lock,
            """
            Manager \(location.name.quoted) waited \(timeout.description) for the lock \(location.lock), which \(holder) holds. \
            Nothing was run and the state is unchanged. Let that process finish and start again.
            """
        )
    }
}

extension FileLock {
    /// Takes the lock if it is free now, without waiting for a closure.
    ///
    /// A list that is locked without the state's lock is looked at for a while: when a process dies, its descriptors are closed one
    /// after the other. A claimant tries for a while in any case, since other processes take the lock for a moment to look at the list,
    /// or at the lock itself.
    static func ifFree(_ location: StateLocation, isClaimant: Bool = false) throws(MigrationError)
        -> FileLock?
    {
        for _ in 1...200 {
            let lock = try FileLock.open(location)
            switch try lock.take(location, isClaimant: isClaimant) {
            case .taken: return lock
            case .held where !isClaimant: return nil
            case .held, .claimed, .lost: Platform.pause(.milliseconds(1))
            }
        }
        return nil
    }
}

extension MigrationError {
    package static func nested(_ location: StateLocation, _ version: AppVersion?) -> MigrationError {
        location.error(
            .nested,
            version,
            """
            A manager of the state \(location.state) was used while a closure, or the plan, of manager \
            \(location.name.quoted) with the same state was under way: it would wait for itself. \
            Nothing was run by this call. In a plan, use the manager that is handed in; elsewhere declare \
            the version beside the other, not inside it, and await it in asynchronous code.
            """
        )
    }
}
