extension MigrationGate {
    /// The state of a gate and of its start.
    ///
    /// ``GuardedContents`` guards it with the gate's lock.
    struct Contents {
        /// A pending migration, as a part of the progress bar.
        struct Step {
            /// The weight of the migration, compared with the other steps.
            var weight = 1.0

            /// How much of the migration was done at its last checkpoint, from 0 to 1.
            var progress = 0.0
        }

        private(set) var state = State.idle

        /// The number of changes of the state.
        ///
        /// By this number an observer knows whether it has read the newest state.
        private(set) var revision = 0

        /// True if the gate doesn't exist any more.
        ///
        /// No further state follows.
        private(set) var isClosed = false

        private(set) var fraction = OverallFraction()

        /// The pending migrations by the names of their managers.
        var steps = [String: [AppVersion: Step]]()

        /// True while a start runs, from its first try to its end.
        private var isStarted = false

        /// The task of the start.
        ///
        /// It is created after the start began, and does nothing before it is kept here.
        private var task: Task<Void, Never>?

        /// True if the start was cancelled.
        private var isCancelled = false

        /// The number of the running try; `nil` if it has ended, so that its late reports change nothing.
        private(set) var runningTry: Int?

        /// The task that sleeps until the next try.
        private var sleeper: Task<Void, any Error>?

        /// True if another try was requested while no task was sleeping.
        ///
        /// If the running try finds the device locked, it may have looked before the request. So the next try
        /// follows at once.
        private var isRetryRequested = false

        /// The error that each call of `ready()` throws until the start begins again.
        private(set) var failure: (any Error)?

        /// True if the running try, or the next one, was requested after an error.
        private(set) var isRetry = false

        /// The observers that wait for the next state, by the numbers of their waits.
        private(set) var waiting = [Int: CheckedContinuation<Void, Never>]()

        private var lastNumber = 0

        /// The resumptions and cancellations to do after the lock is released.
        private var actionsAfterUnlock = [() -> Void]()
    }
}

// A start and its tries.
extension MigrationGate.Contents {
    /// Begins a start.
    ///
    /// - Returns: False if a start runs, has made the data ready or has failed.
    mutating func beginStart() -> Bool {
        if case .ready = state { return false }
        if isStarted || failure != nil { return false }
        isStarted = true
        isRetryRequested = false
        fraction = OverallFraction()
        change(to: .planning(pending: 0))
        return true
    }

    mutating func keep(_ task: Task<Void, Never>) {
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
        runningTry = nil
        isRetry = false
        failure = error
        change(to: state)
    }

    mutating func beginTry() -> Int {
        let number = makeNumber()
        runningTry = number
        return number
    }

    /// Lets the start begin again after an error, or wakes it while it waits for the unlock.
    mutating func requestRetry() {
        // Going on after a cancellation isn't an answer to an error.
        if case .cancelled = state {} else if failure != nil { isRetry = true }
        failure = nil
        if let sleeper {
            cancelAfterUnlock(sleeper)
        } else {
            isRetryRequested = true
        }
    }

    /// Ends a try that found the device locked.
    ///
    /// - Returns: False if another try was already requested. Then it must follow without a wait.
    mutating func beginWait(for error: any Error) -> Bool {
        runningTry = nil
        fraction.beginAgain()
        if takeRetryRequest() { return false }
        change(to: .waitingForUnlock(error))
        return true
    }

    /// Keeps the task that sleeps until the next try.
    mutating func keepSleeper(_ task: Task<Void, any Error>) {
        // A retry may have been requested since the wait began.
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

    /// A number for one wait of an observer, by which ``stopWaiting(number:)`` finds it.
    mutating func makeWaitNumber() -> Int { makeNumber() }

    /// Lets an observer wait for a state with another revision than `knownRevision`.
    mutating func wait(_ observer: CheckedContinuation<Void, Never>, number: Int, knownRevision: Int) {
        let hasNewState = revision != knownRevision || isClosed
        // If the task is already cancelled, its cancellation handler has run and will not wake this observer.
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

// The reports of a start.
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
        case .progressed where event.isCopying:
            fraction.reportCopying(event.fraction ?? 0, weight: step.weight)
        case .progressed: fraction.reportProgress(event.fraction ?? 0)
        case .finished: fraction.finishStep()
        default: return
        }
        change(to: .migrating(fraction: fraction.value, note: event.isCopying ? nil : event.note))
    }

    mutating func reportProgress(_ done: Double, note: String?) {
        fraction.beginStep(weight: 1)
        fraction.reportProgress(MigrationContext.fraction(done))
        change(to: .migrating(fraction: fraction.value, note: note))
    }

    mutating func finishStep() {
        fraction.beginStep(weight: 1)
        fraction.finishStep()
        change(to: .migrating(fraction: fraction.value, note: nil))
    }
}
