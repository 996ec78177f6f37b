extension MigrationGate {
    /// Everything that a gate stores about itself and its start.
    ///
    /// ``GuardedContents`` guards it with the gate's lock.
    struct Contents {
        private(set) var state = State.idle

        /// How many times the state has changed.
        ///
        /// An observer uses it to tell whether it has already read the latest state.
        private(set) var revision = 0

        /// The error that each call of `ready()` throws until the start begins again.
        private(set) var failure: (any Error)?

        private(set) var progress = StartProgress()

        /// The number of the current attempt; `nil` if it has ended.
        ///
        /// Reports from an attempt that has ended are ignored.
        private(set) var currentAttempt: Int?

        /// True if the current or the next attempt was requested with `retry()` after an error.
        private(set) var isRetry = false

        /// True if `retry()` was called while no task was sleeping.
        ///
        /// If the current attempt finds the device locked, the next attempt then begins at once: the device
        /// may have been unlocked when `retry()` was called.
        private var isRetryRequested = false

        /// The task of the start.
        ///
        /// The task is created after the start has begun, and does nothing before it is stored here.
        private var task: Task<Void, Never>?

        /// True if the start was cancelled.
        private var isCancelled = false

        /// The task that sleeps until the next attempt.
        private var sleeper: Task<Void, any Error>?

        /// The last number that was given to an attempt.
        private var lastAttempt = 0

        /// What tells each observer that the state has changed.
        private var observers = [ObjectIdentifier: AsyncStream<Void>.Continuation]()

        /// What has to be done after the lock is released.
        private var actionsAfterUnlock = [() -> Void]()
    }
}

// Starts and their attempts.
extension MigrationGate.Contents {
    /// Begins a start.
    ///
    /// - Returns: False if a start is running, has succeeded, or has failed and `retry()` wasn't called
    ///   since.
    mutating func beginStart() -> Bool {
        switch state {
        case .idle: break
        case .requiresAppVersion, .cancelled, .failed: if failure != nil { return false }
        default: return false
        }
        isCancelled = false
        isRetryRequested = false
        progress = StartProgress()
        change(to: .planning(pending: 0))
        return true
    }

    mutating func store(_ task: Task<Void, Never>) {
        self.task = task
        if isCancelled { cancelAfterUnlock(task) }
    }

    mutating func cancelStart() {
        isCancelled = true
        if let task { cancelAfterUnlock(task) }
    }

    mutating func endStart(_ state: MigrationGate.State, failure error: (any Error)?) {
        task = nil
        currentAttempt = nil
        isRetry = false
        failure = error
        change(to: state)
        if error == nil { finishObservers() }
    }

    mutating func beginAttempt() -> Int {
        lastAttempt += 1
        currentAttempt = lastAttempt
        return lastAttempt
    }

    /// Lets the start begin again after an error.
    ///
    /// If the start is waiting for the device to be unlocked, wakes it.
    mutating func requestRetry() {
        // If the start was cancelled, the user only continues it. That isn't a retry after an error, so
        // `isRetry` stays false.
        if case .cancelled = state {} else if failure != nil { isRetry = true }
        failure = nil
        if let sleeper {
            cancelAfterUnlock(sleeper)
        } else {
            isRetryRequested = true
        }
    }

    /// Ends an attempt that found the device locked.
    ///
    /// - Returns: False if `retry()` was called during the attempt, so that the next attempt has to begin at
    ///   once.
    mutating func beginWait(for error: any Error) -> Bool {
        currentAttempt = nil
        progress.forgetSteps()
        if takeRetryRequest() { return false }
        change(to: .waitingForUnlock(error))
        return true
    }

    /// Stores the task that sleeps until the next attempt.
    mutating func storeSleeper(_ task: Task<Void, any Error>) {
        // `retry()` may have been called after the wait began and before this task was stored.
        if takeRetryRequest() { return cancelAfterUnlock(task) }
        sleeper = task
    }

    mutating func endWait() { sleeper = nil }

    private mutating func takeRetryRequest() -> Bool {
        defer { isRetryRequested = false }
        return isRetryRequested
    }

    private mutating func cancelAfterUnlock<Failure>(_ task: Task<Void, Failure>) {
        actionsAfterUnlock.append { task.cancel() }
    }

    mutating func takeActionsAfterUnlock() -> [() -> Void] {
        defer { actionsAfterUnlock = [] }
        return actionsAfterUnlock
    }
}

// The observers of the state.
extension MigrationGate.Contents {
    private mutating func change(to state: MigrationGate.State) {
        self.state = state
        revision += 1
        for observer in observers.values { actionsAfterUnlock.append { observer.yield() } }
    }

    mutating func add(_ observer: AsyncStream<Void>.Continuation, of identifier: ObjectIdentifier) {
        observers[identifier] = observer
        if case .ready = state { finishObservers() }
    }

    mutating func removeObserver(_ identifier: ObjectIdentifier) { observers[identifier] = nil }

    /// Tells the observers that no further state follows.
    mutating func finishObservers() {
        for observer in observers.values { actionsAfterUnlock.append { observer.finish() } }
        observers = [:]
    }
}

// Progress reports from a start.
extension MigrationGate.Contents {
    mutating func add(_ steps: [StartProgress.Step: StartProgress.Pending]) {
        progress.add(steps)
        if case .migrating = state { return }
        change(to: .planning(pending: progress.pending.count))
    }

    mutating func apply(_ event: MigrationEvent) {
        if event.kind == .waiting { return change(to: .waitingForAnotherProcess) }
        if progress.apply(event) { showProgress() }
    }

    mutating func changeProgress(_ change: (inout StartProgress) -> Void) {
        change(&progress)
        showProgress()
    }

    private mutating func showProgress() {
        change(to: .migrating(fraction: progress.fraction, note: progress.note))
    }
}
