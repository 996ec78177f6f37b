/// A wait for a state's lock, step by step.
///
/// Synchronous and asynchronous callers differ only in how they spend the time between two steps.
struct LockWait: ~Copyable {
    /// The caller that waits.
    enum Caller {
        /// A call that blocks its thread.
        ///
        /// It must not wait for an asynchronous closure of its own process, because that closure may need
        /// this thread.
        case synchronous

        /// An asynchronous call, whose task is suspended while it waits.
        case asynchronous

        /// A start that blocks its thread until files are restored.
        ///
        /// It may wait for its own process: a restore never needs this thread.
        case start
    }

    private let caller: Caller
    private let reporter: Reporter
    private let version: AppVersion?
    private let timeout: Duration?
    private var openedLock: FileLock?
    private var beginning: Duration?
    private var nextPause = Duration.milliseconds(1)

    /// How long to wait before the next step.
    private(set) var pause = Duration.zero

    private static var longestPause: Duration { .milliseconds(32) }

    /// A process that asks for the status holds the lock for a moment.
    ///
    /// That is no reason to give up.
    private static var shortestTimeout: Duration { .milliseconds(10) }

    private var location: StateLocation { reporter.location }

    /// `version` is that of the migration for which the caller waits, if it waits for one.
    init(_ reporter: Reporter, version: AppVersion?, timeout: Duration?, caller: Caller) {
        self.reporter = reporter
        self.version = version
        self.timeout = timeout
        self.caller = caller
    }

    /// Tries once to take the lock; `nil` if it isn't free.
    mutating func step() throws(MigrationError) -> FileLock? {
        let lock = if let openedLock { openedLock } else { try FileLock.open(at: location) }
        if openedLock == nil, try RunToken.enclosing(location) != nil {
            throw .nested(version, in: location)
        }
        openedLock = nil
        switch try lock.tryTake(at: location, isAsynchronous: caller == .asynchronous) {
        case .taken: return lock
        case .replaced: return try step()
        case .held, .listHeld: openedLock = lock
        }
        if caller == .synchronous, FileLock.isHeldAsynchronously(lock.identity, at: location) {
            throw .nested(version, in: location)
        }
        if !isOver() { return nil }
        throw endError(waitingFor: "the lock \(location.lock), which \(lock.holder()) holds")
    }

    /// Sends an event when the wait begins, and sets the pause before the next step.
    ///
    /// - Returns: True if the wait is over, without a lock.
    private mutating func isOver() -> Bool {
        if Task.isCancelled { return true }
        let now = Platform.awake
        let beginning = beginning ?? now
        if self.beginning == nil {
            self.beginning = beginning
            reporter.send(MigrationEvent(.waiting, managerName: location.name, version: version))
        }
        pause = nextPause
        nextPause = min(nextPause * 2, Self.longestPause)
        guard let timeout else { return false }
        let remaining = max(timeout, Self.shortestTimeout) - (now - beginning)
        pause = min(pause, remaining)
        return remaining <= .zero
    }

    /// The error of a wait that is over, with the code `cancelled` or `lockTimeout`.
    private func endError(waitingFor subject: Message) -> MigrationError {
        guard let timeout, !Task.isCancelled else {
            return location.cancelled(version, while: "waited for \(subject)")
        }
        return location.error(
            .lockTimeout,
            version: version,
            at: location.lock,
            isTransient: true,
            "The \(location) waited \(timeout.description) for \(subject).",
            advice: "Let that process finish, and start again."
        )
    }
}
