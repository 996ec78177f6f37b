/// A wait for a state's lock, step by step.
///
/// Between two steps, a synchronous caller blocks its thread, and an asynchronous caller suspends its task.
struct LockWait: ~Copyable {
    /// The caller that waits.
    enum Caller {
        /// A call that blocks its thread.
        ///
        /// Such a call must not wait for an asynchronous closure in the same process: that closure may need
        /// the thread that the call blocks.
        case synchronous

        /// An asynchronous call, whose task is suspended while it waits.
        case asynchronous

        /// The creation of a manager. It blocks its thread while another caller restores protected files.
        ///
        /// It may wait even for another thread or task of the same process: restoring files never needs the
        /// thread that waits.
        case start
    }

    private let caller: Caller
    private let reporter: Reporter
    private let version: AppVersion?
    private let timeout: Duration?
    private var lockNotYetTaken: FileLock?
    private var waitBegan: Duration?
    private var nextPause = Duration.milliseconds(1)

    /// How long to wait before the next step.
    private(set) var pause = Duration.zero

    private static var longestPause: Duration { .milliseconds(32) }

    /// The wait lasts at least this long, even if `timeout` is shorter.
    ///
    /// A process that only reads the status also holds the lock for a moment. The wait should last longer
    /// than that moment.
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
        let lock = if let lockNotYetTaken { lockNotYetTaken } else { try FileLock.open(at: location) }
        if lockNotYetTaken == nil, try RunToken.enclosing(location) != nil {
            throw .nested(version, in: location)
        }
        lockNotYetTaken = nil
        switch try lock.tryTake(at: location, isAsynchronous: caller == .asynchronous) {
        case .taken: return lock
        case .replaced: return try step()
        case .held, .listHeld: lockNotYetTaken = lock
        }
        if caller == .synchronous, FileLock.isHeldAsynchronously(lock.identity, at: location) {
            throw .nested(version, in: location)
        }
        if continueWaiting() { return nil }
        throw endError(waitingFor: "the lock \(location.lock), which \(lock.holder()) holds")
    }

    /// Sends an event when the wait begins, and sets the pause before the next step.
    ///
    /// - Returns: False if the task is cancelled or the time is over.
    private mutating func continueWaiting() -> Bool {
        if Task.isCancelled { return false }
        let now = Platform.awake
        let beginning = waitBegan ?? now
        if waitBegan == nil {
            waitBegan = beginning
            reporter.send(MigrationEvent(.waiting, managerName: location.name, version: version))
        }
        pause = nextPause
        nextPause = min(nextPause * 2, Self.longestPause)
        guard let timeout else { return true }
        let remaining = max(timeout, Self.shortestTimeout) - (now - beginning)
        pause = min(pause, remaining)
        return remaining > .zero
    }

    /// Makes the error of a wait that ended without the lock: `cancelled` or `lockTimeout`.
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
            advice: "Wait until that process has finished, and try again with a new manager."
        )
    }
}
