/// What `init` found, or made, where reading the state alone was not the whole of it.
struct StartOutcome {
    var marks: StateMarks
    var launch: MigrationManager.Launch
    var isFresh = false
    /// Why the version launched could not be saved.
    var launchFailure: MigrationError?
    /// Whether it could not be because another process, or a task of this one, holds the lock: declarations try again.
    var owesLaunch = false

    /// The first run: under the lock, and only if nobody made the state meanwhile.
    static func first(
        _ file: StateFile,
        current: AppVersion,
        options: MigrationManager.Options,
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        try DefaultLocation.refuseEncoded(file.location)
        let outcome = try firstUnderLock(file, current: current, options: options, firstRun)
        outcome.report(file, current, options)
        return outcome
    }

    private static func firstUnderLock(
        _ file: StateFile,
        current: AppVersion,
        options: MigrationManager.Options,
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        let location = file.location
        let locked: LockedState
        do throws(MigrationError) {
            let lock = try FileLock.waiting(location, version: nil, options: options) { .now }
            locked = LockedState(file, lock)
        } catch {
            // A task of this process made the state since it was missed, and is migrating: there is nothing to wait for.
            if error.code == .nested, case .marks(let marks) = try file.readMarks() {
                return held(marks, file, current)
            }
            throw error
        }
        defer { locked.unlock() }
        // Whoever was first may have died in a migration already.
        if let state = try locked.read() { return try found(state, locked, current, options) }
        let answer = try ask(firstRun, locked)
        let baseline = try baseline(answer, current, location)
        let isFresh = if case .freshInstall = answer { true } else { false }
        let marks = StateMarks(lastRun: baseline, baseline: baseline, launched: current, interrupted: nil)
        do throws(SaveFailure) {
            try locked.save(MigrationState(name: location.name, marks: marks))
        } catch {
            throw .notSaved(
                error,
                nil,
                location,
                consequence: "Nothing was run."
            )
        }
        return StartOutcome(marks: marks, launch: .first, isFresh: isFresh)
    }

    /// What a start finds under the lock: files are put back, and the version launched is raised.
    ///
    /// `launch` says what is true then: a newer version may have been started since the state was read without the lock.
    static func found(
        _ state: MigrationState,
        _ locked: LockedState,
        _ current: AppVersion,
        _ options: MigrationManager.Options
    ) throws(MigrationError) -> StartOutcome {
        var state = state
        try locked.recover(&state, options: options)
        var outcome = StartOutcome(marks: state.marks, launch: state.marks.launch(of: current))
        outcome.launchFailure = locked.raiseLaunched(&state, to: current)
        outcome.marks = state.marks
        return outcome
    }

    /// What a start finds while somebody else holds the lock.
    static func held(_ marks: StateMarks, _ file: StateFile, _ current: AppVersion) -> StartOutcome {
        var outcome = StartOutcome(marks: marks, launch: marks.launch(of: current))
        outcome.owesLaunch = marks.launched < current
        if outcome.owesLaunch { outcome.launchFailure = .launchOwed(current, file.location) }
        return outcome
    }

    /// Without the lock, so that a handler may wait for another thread.
    func report(_ file: StateFile, _ current: AppVersion, _ options: MigrationManager.Options) {
        guard let launchFailure else { return }
        let name = file.location.name
        let event = MigrationEvent(.launchNotSaved, name, version: current, error: launchFailure)
        RunToken.telling(event, of: file.location, lock: nil, options.onEvent)
    }

    private static func ask(
        _ firstRun: () throws -> MigrationManager.FirstRun,
        _ locked: LockedState
    ) throws(MigrationError) -> MigrationManager.FirstRun {
        let token = RunToken(locked.location, .closure(lock: locked.identity))
        defer { token.end() }
        let answer: MigrationManager.FirstRun
        do {
            answer = try RunToken.$current.withValue(token) { try firstRun() }
        } catch {
            throw .firstRunFailed(error, locked.location)
        }
        do throws(LockLoss) {
            try locked.takeAgain()
        } catch {
            throw .lockLost(error, nil, locked.location, consequence: "Nothing was run.")
        }
        return answer
    }

    private static func baseline(
        _ answer: MigrationManager.FirstRun,
        _ current: AppVersion,
        _ location: StateLocation
    ) throws(MigrationError) -> AppVersion {
        switch answer {
        case .freshInstall: return current
        case .everything: return .zero
        case .existingData(let text):
            let version: AppVersion
            switch AppVersion.read(text) {
            case .version(let read): version = read
            case .problem(let problem): throw .invalidFirstRun(text, problem, location)
            }
            if version.exceeds(current) {
                throw .tooNewFirstRun(version, current: current, location)
            }
            return version
        }
    }
}

extension StateMarks {
    /// Puts back what a killed process left protected, and raises the version launched, if the lock is free.
    ///
    /// If it is held, a live process is migrating, and nothing is touched. Or it is putting those files back: then the start
    /// waits.
    mutating func catchUp(
        _ file: StateFile,
        current: AppVersion,
        options: MigrationManager.Options
    ) throws(MigrationError) -> StartOutcome {
        let location = file.location
        guard hasLeftover || hasSpentSnapshot || launched < current else {
            return StartOutcome(marks: self, launch: launch(of: current))
        }
        // A handler that is told of a save which failed, and makes a manager, would be told of the next failure.
        let isTold = hasLeftover ? false : try RunToken.enclosing(location) != nil
        if isTold {
            return StartOutcome.held(self, file, current)
        }
        do throws(MigrationError) {
            let outcome = try catchUpUnderLock(file, current: current, options: options)
            outcome.report(file, current, options)
            return outcome
        } catch {
            // Without the lock or the state the files can't be put back, so the error has to be one that forbids writing to
            // them.
            if hasLeftover, error.code == .stateNotSaved || error.code == .stateUnreadable {
                let cause = error.underlyingError ?? error
                let path = error.path ?? location.state
                throw .protection(cause, path, location, interrupted?.version, .restoring)
            }
            if hasLeftover, error.code == .lockTimeout || error.code == .cancelled {
                throw error.beforeRestore(of: interrupted?.version)
            }
            guard error.code == .stateNotSaved else { throw error }
            var outcome = StartOutcome(marks: self, launch: launch(of: current))
            outcome.launchFailure = error
            outcome.report(file, current, options)
            return outcome
        }
    }

    private mutating func catchUpUnderLock(
        _ file: StateFile,
        current: AppVersion,
        options: MigrationManager.Options
    ) throws(MigrationError) -> StartOutcome {
        guard let lock = try lock(file, options) else { return StartOutcome.held(self, file, current) }
        let locked = LockedState(file, lock)
        defer { locked.unlock() }
        guard let state = try locked.read() else { throw .gone(file.location) }
        return try StartOutcome.found(state, locked, current, options)
    }

    private mutating func lock(
        _ file: StateFile,
        _ options: MigrationManager.Options
    ) throws(MigrationError) -> FileLock? {
        if let lock = try FileLock.ifFree(file.location) { return lock }
        guard try awaitsRestore(file) else { return nil }
        return try FileLock.waiting(file.location, options: options) { () throws(MigrationError) in
            try awaitsRestore(file)
        }
    }

    /// Whether files are to be put back, and the closure that they were copied for isn't running any more.
    private mutating func awaitsRestore(_ file: StateFile) throws(MigrationError) -> Bool {
        guard hasLeftover else { return false }
        let location = file.location
        do throws(SystemCallError) {
            if try SnapshotClaim.stands(location) { return false }
        } catch {
            throw .protection(error, location.snapshot, location, interrupted?.version, .restoring)
        }
        if case .marks(let marks) = try file.readMarks() { self = marks }
        return hasLeftover
    }
}
