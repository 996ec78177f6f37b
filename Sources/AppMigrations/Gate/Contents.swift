extension MigrationGate {
    /// The state of a gate and of its start, which ``GuardedContents`` keeps behind the gate's lock.
    struct Contents {
        private(set) var state = State.idle
        /// The number of changes of the state: an observer knows by it whether it has read the newest one.
        private(set) var revision = 0
        /// True once the gate is gone: no further state comes.
        private(set) var isClosed = false
        private(set) var fraction = OverallFraction()
        /// The pending migrations, by the names of their managers: their parts of the bar, and the progress of their checkpoints.
        var steps = [String: [AppVersion: (weight: Double, progress: Double)]]()
        /// True if a start is under way, from its first try to its end.
        private var isStarted = false
        /// The task of that start; it is made once the start has begun, and runs nothing before it is here.
        private var task: Task<Void, Never>?
        /// True if the start was cancelled before its task was here.
        private var isCancelled = false
        /// The number of the try that runs; `nil` once it ended: later reports of it change nothing.
        private(set) var runningTry: Int?
        /// The task that sleeps until the next try.
        private var sleeper: Task<Void, any Error>?
        /// True if another try was asked for while none was waited for: the error of this try may be older than the question.
        private var isAskedAgain = false
        /// The error that each door throws, until the start is begun again.
        private(set) var failure: (any Error)?
        /// True if the try that runs, or comes next, was asked for after an error.
        private(set) var isRetry = false
        /// The observers that wait for the next state, by the numbers of their waits.
        private(set) var waiting = [Int: CheckedContinuation<Void, Never>]()
        private var lastNumber = 0
        /// What is to be done once the lock is released.
        private var afterwards = [() -> Void]()
    }
}

// Begin, end and cancel a start and its tries.
extension MigrationGate.Contents {
    /// Begins a start; `false` if one is under way, has made the data ready or has failed.
    mutating func beginStart() -> Bool {
        if case .ready = state { return false }
        if isStarted || failure != nil { return false }
        isStarted = true
        isAskedAgain = false
        fraction = OverallFraction()
        change(to: .planning(pending: 0))
        return true
    }

    mutating func keep(_ task: Task<Void, Never>) {
        self.task = task
        if isCancelled { afterwards.append { task.cancel() } }
    }

    mutating func cancelStart() {
        guard isStarted else { return }
        isCancelled = true
        if let task { afterwards.append { task.cancel() } }
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
        let number = nextNumber()
        runningTry = number
        return number
    }

    mutating func forgetFailure() {
        // To go on after a cancellation is no answer to an error.
        if case .cancelled = state {} else if failure != nil { isRetry = true }
        failure = nil
        if let sleeper { afterwards.append { sleeper.cancel() } } else { isAskedAgain = true }
    }

    /// Ends a try that found the device locked; `false` if the next try is asked for already, so that nobody has to wait.
    mutating func beginWait(for error: any Error) -> Bool {
        runningTry = nil
        fraction.beginAgain()
        if takeQuestion() { return false }
        change(to: .waitingForUnlock(error))
        return true
    }

    /// Keeps the task that sleeps until the next try.
    mutating func keepSleeper(_ task: Task<Void, any Error>) {
        // Somebody may have asked since the wait began.
        if takeQuestion() { return afterwards.append { task.cancel() } }
        sleeper = task
    }

    mutating func endWait() { sleeper = nil }

    private mutating func takeQuestion() -> Bool {
        defer { isAskedAgain = false }
        return isAskedAgain
    }

    private mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}

// Tell observers that the state has changed.
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
        let observers = waiting.values
        waiting = [:]
        for observer in observers { afterwards.append { observer.resume() } }
    }

    mutating func beginObserving() -> Int { nextNumber() }

    /// Lets an observer wait until there is a newer state than the one it knows.
    mutating func wait(_ observer: CheckedContinuation<Void, Never>, number: Int, knownRevision: Int) {
        let hasNews = revision != knownRevision || isClosed
        // The handler of a task that was cancelled before found nobody to wake up.
        if hasNews || Task.isCancelled { return afterwards.append { observer.resume() } }
        waiting[number] = observer
    }

    mutating func stopWaiting(number: Int) {
        guard let observer = waiting.removeValue(forKey: number) else { return }
        afterwards.append { observer.resume() }
    }

    /// Hands over what is to be done once the lock is released.
    mutating func takeAfterwards() -> [() -> Void] {
        defer { afterwards = [] }
        return afterwards
    }
}

// What a start reports.
extension MigrationGate.Contents {
    mutating func expect(_ steps: [Double]) {
        fraction.expect(steps)
        if case .migrating = state { return }
        change(to: .planning(pending: fraction.pending))
    }

    mutating func apply(_ event: MigrationEvent) {
        let step = event.version.flatMap { steps[event.managerName]?[$0] } ?? (weight: 1, progress: 0)
        switch event.kind {
        case .waiting: return change(to: .waitingForAnotherProcess)
        case .started:
            fraction.begin(step.weight)
            fraction.reach(step.progress)
        case .progressed where event.isCopying: fraction.copy(event.fraction ?? 0, step.weight)
        case .progressed: fraction.reach(event.fraction ?? 0)
        case .finished: fraction.finish()
        default: return
        }
        change(to: .migrating(fraction: fraction.value, note: event.isCopying ? nil : event.note))
    }

    mutating func report(_ done: Double, _ note: String?) {
        fraction.begin(1)
        fraction.reach(MigrationContext.fraction(done))
        change(to: .migrating(fraction: fraction.value, note: note))
    }

    mutating func finishStep() {
        fraction.begin(1)
        fraction.finish()
        change(to: .migrating(fraction: fraction.value, note: nil))
    }
}
