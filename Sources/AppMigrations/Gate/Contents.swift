extension MigrationGate {
    /// Everything that a gate stores about itself and its start.
    ///
    /// ``GuardedContents`` guards it with the gate's lock.
    struct Contents {
        /// A pending migration, as a part of the progress bar.
        struct Step {
            /// The weight of the migration, relative to the other steps.
            var weight = 1.0

            /// How much of the migration was done at its last checkpoint, from 0 to 1.
            var progress = 0.0
        }

        private(set) var state = State.idle

        /// How many times the state has changed.
        ///
        /// An observer uses it to tell whether it has already read the latest state.
        private(set) var revision = 0

        /// True once the gate has been released.
        ///
        /// After that, the state doesn't change again.
        private(set) var isClosed = false

        private(set) var fraction = OverallFraction()

        /// The pending migrations, by manager name and version.
        var steps = [String: [AppVersion: Step]]()

        /// True while a start runs, from its first attempt to its end.
        private var isStarted = false

        /// The task of the start.
        ///
        /// The task is created after the start has begun, and does nothing before it is stored here.
        private var task: Task<Void, Never>?

        /// True if the start was cancelled.
        private var isCancelled = false

        /// The number of the current attempt; `nil` if it has ended.
        ///
        /// Reports from an attempt that has ended are ignored.
        private(set) var currentAttempt: Int?

        /// The task that sleeps until the next attempt.
        private var sleeper: Task<Void, any Error>?

        /// True if `retry()` was called while no task was sleeping.
        ///
        /// If the current attempt finds the device locked, the next attempt then begins at once: the device
        /// may have been unlocked when `retry()` was called.
        private var isRetryRequested = false

        /// The error that each call of `ready()` throws until the start begins again.
        private(set) var failure: (any Error)?

        /// True if the current or the next attempt was requested with `retry()` after an error.
        private(set) var isRetry = false

        /// The observers that wait for the next state, by the numbers of their waits.
        private(set) var waiting = [Int: CheckedContinuation<Void, Never>]()

        /// The last number that was given to an attempt or to a wait.
        private var lastNumber = 0

        /// The resumptions and cancellations to do after the lock is released.
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
        if case .ready = state { return false }
        if isStarted || failure != nil { return false }
        isStarted = true
        isRetryRequested = false
        fraction = OverallFraction()
        change(to: .planning(pending: 0))
        return true
    }

    mutating func store(_ task: Task<Void, Never>) {
        self.task = task
        if isCancelled { cancelAfterUnlock(task) }
    }

    mutating func cancelStart() {
        guard isStarted else { return }
        isCancelled = true
        if let task { cancelAfterUnlock(task) }
    }

    mutating func endStart(_ state: MigrationGate.State, failure error: (any Error)?) {
        isStarted = false
        task = nil
        isCancelled = false
        currentAttempt = nil
        isRetry = false
        failure = error
        change(to: state)
    }

    mutating func beginAttempt() -> Int {
        let number = makeNumber()
        currentAttempt = number
        return number
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
        fraction.beginAgain()
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

    private mutating func makeNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private mutating func cancelAfterUnlock<Failure>(_ task: Task<Void, Failure>) {
        actionsAfterUnlock.append { task.cancel() }
    }
}

// The observers of the state.
extension MigrationGate.Contents {
    private mutating func change(to state: MigrationGate.State) {
        self.state = state
        revision += 1
        wakeObservers()
    }

    mutating func close() {
        isClosed = true
        wakeObservers()
    }

    private mutating func wakeObservers() {
        for observer in waiting.values { resumeAfterUnlock(observer) }
        waiting = [:]
    }

    private mutating func resumeAfterUnlock(_ observer: CheckedContinuation<Void, Never>) {
        actionsAfterUnlock.append { observer.resume() }
    }

    /// Returns a number that identifies one wait of an observer, for ``stopWaiting(number:)``.
    mutating func makeWaitNumber() -> Int { makeNumber() }

    /// Makes an observer wait until the state changes.
    ///
    /// `knownRevision` is the revision of the state that the observer has seen. If the state has changed
    /// since then, the observer is resumed at once.
    mutating func wait(_ observer: CheckedContinuation<Void, Never>, number: Int, knownRevision: Int) {
        let hasNewState = revision != knownRevision || isClosed
        // If the task is already cancelled, its cancellation handler may have run before the observer is
        // stored in `waiting`. The handler won't run again, so resume the observer here.
        if hasNewState || Task.isCancelled { return resumeAfterUnlock(observer) }
        waiting[number] = observer
    }

    mutating func stopWaiting(number: Int) {
        guard let observer = waiting.removeValue(forKey: number) else { return }
        resumeAfterUnlock(observer)
    }

    mutating func takeActionsAfterUnlock() -> [() -> Void] {
        defer { actionsAfterUnlock = [] }
        return actionsAfterUnlock
    }
}

// Progress reports from a start.
extension MigrationGate.Contents {
    mutating func addSteps(weights: [Double]) {
        fraction.addSteps(weights: weights)
        if case .migrating = state { return }
        change(to: .planning(pending: fraction.pending))
    }

    mutating func apply(_ event: MigrationEvent) {
        let step = event.version.flatMap { steps[event.managerName]?[$0] } ?? Step()
        switch event.kind {
        case .waiting: return change(to: .waitingForAnotherProcess)
        case .started:
            fraction.beginStep(weight: step.weight)
            fraction.reportProgress(step.progress)
        case .progressed: fraction.reportProgress(event.fraction ?? 0)
        case .finished:
            // A migration that is recorded without running has no event `started`.
            fraction.beginStep(weight: step.weight)
            fraction.finishStep()
        default: return
        }
        // Other notes are for a log.
        let isForUser = event.kind == .progressed
        change(to: .migrating(fraction: fraction.value, note: isForUser ? event.note : nil))
    }

    mutating func reportProgress(_ doneFraction: Double, note: String?) {
        fraction.beginStep(weight: 1)
        fraction.reportProgress(MigrationContext.fraction(doneFraction))
        change(to: .migrating(fraction: fraction.value, note: note))
    }

    mutating func finishStep() {
        fraction.beginStep(weight: 1)
        fraction.finishStep()
        change(to: .migrating(fraction: fraction.value, note: nil))
    }
}
