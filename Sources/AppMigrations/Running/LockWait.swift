/// A wait for a state's lock, step by step: the synchronous and the asynchronous caller differ only in how they let the time between
/// two steps pass.
struct LockWait: ~Copyable {
    /// A call that waits on its thread, a task, or a start that waits on its thread until files are put back.
    ///
    /// The process that puts files back needs only the thread that does it. So a start can wait for it where a call, which
    /// may wait for a closure that is to go on on the call's own thread, would wait for itself.
    enum Caller { case synchronous, asynchronous, start }

    private let caller: Caller
    private let reporter: Reporter
    private let version: AppVersion?
    private let timeout: Duration?
    private var opened: FileLock?
    private var began: Duration?
    private var nextPause = Duration.milliseconds(1)

    /// How long to wait before the next step.
    private(set) var pause = Duration.zero

    private static var longestPause: Duration { .milliseconds(32) }

    /// A process that only looks has the lock for a moment, which is no reason to give up.
    private static var shortestTimeout: Duration { .milliseconds(10) }

    private var location: StateLocation { reporter.location }

    init(_ reporter: Reporter, _ version: AppVersion?, timeout: Duration?, _ caller: Caller) {
        (self.reporter, self.version, self.timeout, self.caller) = (reporter, version, timeout, caller)
    }

    /// Tries once: the lock, or `nil` where it isn't free.
    mutating func step() throws(MigrationError) -> FileLock? {
        let lock = if let opened { opened } else { try FileLock.open(location) }
        if opened == nil, try RunToken.enclosing(location) != nil { throw .nested(location, version) }
        opened = nil
        switch try lock.take(location, isAsynchronous: caller == .asynchronous) {
        case .taken: return lock
        case .lost: return try step()
        case .held, .claimed: opened = lock
        }
        // To wait here would block this thread, and the closure may need this very thread to go on.
        if caller == .synchronous, FileLock.isHeldAsynchronously(lock.identity, location) {
            throw .nested(location, version)
        }
        if !isOver() { return nil }
        throw end("the lock \(location.lock), which \(lock.holder()) holds")
    }

    /// Tells of the wait when it begins, and sets the pause before the next step; true where the wait is over, without a lock.
    private mutating func isOver() -> Bool {
        if Task.isCancelled { return true }
        let now = Platform.awake
        let began = began ?? now
        if self.began == nil {
            self.began = began
            reporter.send(MigrationEvent(.waiting, location.name, version: version))
        }
        pause = nextPause
        nextPause = min(nextPause * 2, Self.longestPause)
        guard let timeout else { return false }
        let left = max(timeout, Self.shortestTimeout) - (now - began)
        pause = min(pause, left)
        return left <= .zero
    }

    /// The error of a wait that is over, with the code `cancelled` or `lockTimeout`.
    private func end(_ subject: Message) -> MigrationError {
        guard let timeout, !Task.isCancelled else {
            return location.cancelled(version, "waited for \(subject)")
        }
        return location.error(
            .lockTimeout,
            version,
            at: location.lock,
            isTransient: true,
            "The \(location) waited \(timeout.description) for \(subject).",
            advice: "Let that process finish, and start again."
        )
    }
}

extension FileLock {
    /// Takes the lock if it is free now, without waiting for a closure.
    ///
    /// A list that is locked without the state's lock is looked at for a while: when a process dies, its descriptors are closed one
    /// after the other.
    static func ifFree(_ location: StateLocation, tries: Int = 200) throws(MigrationError) -> FileLock? {
        for _ in 1...tries {
            let lock = try FileLock.open(location)
            switch try lock.take(location) {
            case .taken: return lock
            case .held: return nil
            case .claimed, .lost: Platform.pause(.milliseconds(1))
            }
        }
        return nil
    }
}

extension StateLocation {
    /// The error of a task that was cancelled before a closure began.
    func cancelled(_ version: AppVersion?, _ work: Message) -> MigrationError {
        error(
            .cancelled,
            version,
            because: CancellationError(),
            "The task was cancelled while \(self) \(work).",
            advice: "Make a new manager to try again."
        )
    }
}

extension MigrationError {
    package static func nested(_ location: StateLocation, _ version: AppVersion?) -> MigrationError {
        location.error(
            .nested,
            version,
            """
            This call would wait for itself: a closure, a plan or a declaration of \(location) is under way, and the call was \
            made inside it or next to it.
            """,
            advice: """
                In a plan, use the manager that is handed in. Elsewhere declare the version after the other one, not inside it, \
                and await the call in asynchronous code.
                """
        )
    }
}
