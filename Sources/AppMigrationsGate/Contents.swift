internal import AppMigrations

extension MigrationGate {
    /// The knowledge of a gate, who waits at it and who looks on.
    struct Contents {
        private(set) var state = State.idle
        private(set) var fraction = OverallFraction()
        /// The pending migrations, by the names of their managers: their parts of the bar, and what checkpoints say is done.
        var steps = [String: [AppVersion: (weight: Double, progress: Double)]]()
        /// The task that sleeps until the next try.
        var sleeper: Task<Void, any Error>?
        /// The task of the start, from its first try to its end.
        private(set) var task: Task<Void, Never>?
        /// The number of the try that runs; `nil` once it ended: what is told of it later changes nothing.
        private(set) var runningTry: Int?
        /// True if another try was asked for during this one, whose error may be older than the question.
        private var isAskedAgain = false
        /// The error that everybody gets who asks, until the start is begun again.
        private var failure: (any Error)?
        /// True if the try that runs, or comes next, was asked for after an error.
        private(set) var isRetry = false
        private var waiters = [Int: Waiter]()
        private var observers = [Int: AsyncStream<State>.Continuation]()
        private var lastNumber = 0

        /// A task may be cancelled before its continuation is here.
        private enum Waiter { case coming, cancelled, waiting(Continuation) }

        typealias Continuation = CheckedContinuation<Void, any Error>

        /// Work for the time when the lock is given back, since it calls code of others.
        typealias Answer = () -> Void

        private mutating func takeNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }

        mutating func announce() -> Int {
            let number = takeNumber()
            waiters[number] = .coming
            return number
        }

        mutating func enter(_ waiter: Continuation, _ number: Int) -> Answer {
            let announced = waiters.removeValue(forKey: number)
            if case .cancelled = announced { return { waiter.resume(throwing: CancellationError()) } }
            if case .ready = state { return { waiter.resume() } }
            if let failure { return { waiter.resume(throwing: failure) } }
            waiters[number] = .waiting(waiter)
            return {}
        }

        mutating func leave(_ number: Int) -> Answer {
            switch waiters[number] {
            case .waiting(let waiter):
                waiters[number] = nil
                return { waiter.resume(throwing: CancellationError()) }
            case .coming: waiters[number] = .cancelled
            case .cancelled, nil: break
            }
            return {}
        }

        /// The number under which the observer stops; `nil` where there will be no other state.
        mutating func observe(_ observer: AsyncStream<State>.Continuation) -> Int? {
            observer.yield(state)
            if case .ready = state { return nil }
            let number = takeNumber()
            observers[number] = observer
            return number
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
            let number = takeNumber()
            runningTry = number
            return number
        }

        mutating func forgetFailure() {
            if failure != nil { isRetry = true }
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
            var answered = [Continuation]()
            for (number, waiter) in waiters {
                guard case .waiting(let continuation) = waiter else { continue }
                answered.append(continuation)
                waiters[number] = nil
            }
            let finish = error == nil ? finishObservers() : {}
            return {
                for waiter in answered {
                    if let error { waiter.resume(throwing: error) } else { waiter.resume() }
                }
                finish()
            }
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
        let step = event.version.flatMap { steps[event.managerName]?[$0] }
        fraction.weight = step?.weight ?? 1
        switch event.kind {
        case .waiting: return change(to: .waitingForAnotherProcess)
        case .started:
            fraction.begin()
            fraction.reach(step?.progress ?? 0)
        case .progressed: fraction.reach(event.fraction ?? 0)
        case .finished: fraction.finish()
        default: return
        }
        change(to: .migrating(fraction: fraction.value, note: event.isOfFiles ? nil : event.note))
    }

    mutating func report(_ done: Double, _ note: String?) {
        fraction.weight = 1
        fraction.begin()
        fraction.reach(done)
        change(to: .migrating(fraction: fraction.value, note: note))
    }

    mutating func finishStep() {
        fraction.weight = 1
        fraction.finish()
        change(to: .migrating(fraction: fraction.value, note: nil))
    }
}
