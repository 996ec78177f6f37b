extension MigrationGate {
    /// The state of a gate, and the streams that observe it.
    struct Contents {
        private(set) var state = State.idle
        private(set) var fraction = OverallFraction()
        /// The pending migrations, by the names of their managers: their parts of the bar, and the progress of their checkpoints.
        var steps = [String: [AppVersion: (weight: Double, progress: Double)]]()
        /// The task that sleeps until the next try.
        var sleeper: Task<Void, any Error>?
        /// The task of the start, from its first try to its end.
        private(set) var task: Task<Void, Never>?
        /// The number of the try that runs; `nil` once it ended: later reports of it change nothing.
        private(set) var runningTry: Int?
        /// True if another try was asked for during this one, whose error may be older than the question.
        private var isAskedAgain = false
        /// The error that each door throws, until the start is begun again.
        private(set) var failure: (any Error)?
        /// True if the try that runs, or comes next, was asked for after an error.
        private(set) var isRetry = false
        private var observers = [Int: AsyncStream<State>.Continuation]()
        private var lastNumber = 0

        /// Work for after the lock is given back, because it calls code of others.
        typealias Answer = () -> Void

        /// The number under which the observer stops; `nil` where there will be no other state.
        mutating func observe(_ observer: AsyncStream<State>.Continuation) -> Int? {
            observer.yield(state)
            if case .ready = state { return nil }
            lastNumber += 1
            observers[lastNumber] = observer
            return lastNumber
        }

        mutating func stopObserving(_ number: Int) { observers[number] = nil }

        mutating func begin(_ run: () -> Task<Void, Never>) {
            if case .ready = state { return }
            if task != nil || failure != nil { return }
            isAskedAgain = false
            fraction = OverallFraction()
            change(to: .planning(pending: 0))
            task = run()
        }

        mutating func beginTry() -> Int {
            lastNumber += 1
            runningTry = lastNumber
            return lastNumber
        }

        mutating func forgetFailure() {
            // To go on after a cancellation is no answer to an error.
            if case .cancelled = state {} else if failure != nil { isRetry = true }
            failure = nil
            if let sleeper { sleeper.cancel() } else { isAskedAgain = true }
        }

        /// The task to wait for; `nil` where the next try is asked for already.
        mutating func wait(
            for error: any Error,
            _ sleep: () -> Task<Void, any Error>
        ) -> Task<Void, any Error>? {
            runningTry = nil
            fraction.beginAgain()
            if isAskedAgain {
                isAskedAgain = false
                return nil
            }
            sleeper = sleep()
            change(to: .waitingForUnlock(error))
            return sleeper
        }

        mutating func end(_ state: State, _ error: (any Error)?) -> Answer {
            task = nil
            runningTry = nil
            isRetry = false
            failure = error
            change(to: state)
            return error == nil ? finishObservers() : {}
        }

        mutating func finishObservers() -> Answer {
            defer { observers = [:] }
            return { [observers] in for observer in observers.values { observer.finish() } }
        }

        private mutating func change(to state: State) {
            self.state = state
            for observer in observers.values { observer.yield(state) }
        }
    }
}

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
