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

        /// The creation of a manager at app start. It blocks its thread until protected files are restored.
        ///
        /// It may wait even if another thread of the same process holds the lock: restoring files never needs
        /// this thread.
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

    /// The wait lasts at least this long, even if `timeout` is shorter.
    ///
    /// A process that only reads the status also holds the lock for a moment, and the wait should outlast it.
    private static var shortestTimeout: Duration { .milliseconds(10) }

    private var location: StateLocation { reporter.location }

    /// `version` is the migration that the caller wants to run with the lock; `nil` if the call is not about
    /// one migration.
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
