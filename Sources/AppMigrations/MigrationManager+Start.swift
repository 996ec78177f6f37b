/// What `init` found, or made, where reading the state alone was not the whole of it.
struct StartOutcome {
    var marks: StateMarks
    var launch: MigrationManager.Launch
    var isFresh: Bool

    /// The first run: under the lock, and only if nobody made the state meanwhile.
    static func first(
        _ file: StateFile,
        current: AppVersion,
        options: MigrationManager.Options,
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        let location = file.location
        let lock: FileLock
        do throws(MigrationError) {
            lock = try FileLock.waiting(location, version: nil, options: options) { .now }
        } catch {
            // A task of this process made the state since it was missed, and is migrating: there is nothing to wait for.
            if error.code == .nested, case .marks(let marks) = try file.readMarks() {
                return found(marks, current)
            }
            throw error
        }
        defer { lock.unlock() }
        if var state = try file.readState() {
            // Whoever was first may have died in a migration already.
            try file.recover(&state, lock, options: options)
            return found(state.marks, current)
        }
        let answer = try ask(firstRun, location, lock)
        let baseline = try baseline(answer, current, location)
        let isFresh = if case .freshInstall = answer { true } else { false }
        let marks = StateMarks(lastRun: baseline, baseline: baseline, launched: current, interrupted: nil)
        do throws(SaveFailure) {
            try file.save(MigrationState(name: location.name, marks: marks))
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

    private static func found(_ marks: StateMarks, _ current: AppVersion) -> StartOutcome {
        StartOutcome(marks: marks, launch: marks.launch(of: current), isFresh: false)
    }

    private static func ask(
        _ firstRun: () throws -> MigrationManager.FirstRun,
        _ location: StateLocation,
        _ lock: FileLock
    ) throws(MigrationError) -> MigrationManager.FirstRun {
        let token = RunToken(stateFile: location.state, lock: lock.identity)
        defer { token.end() }
        do {
            return try RunToken.$current.withValue(token) { try firstRun() }
        } catch {
            throw .firstRunFailed(error, location)
        }
    }

    private static func baseline(
        _ answer: MigrationManager.FirstRun,
        _ current: AppVersion,
        _ location: StateLocation
    ) throws(MigrationError) -> AppVersion {
        switch answer {
        case .freshInstall: return current
        case .everything: return .zero
        case .upgrading(let text):
            let version = try MigrationManager.version(text, location.name)
            if version.exceeds(current) {
                throw .tooNew(version, current: current, location, givenTo: "firstRun:")
            }
            return version
        }
    }
}

extension StateMarks {
    /// Puts back what a killed process left protected, and raises the version launched, if the lock is free.
    ///
    /// If it is held, a live process is migrating: nothing is touched, and that process's save raises its own version. Or it
    /// is putting those files back: then the start waits.
    mutating func catchUp(
        _ file: StateFile,
        current: AppVersion,
        options: MigrationManager.Options
    ) throws(MigrationError) {
        let location = file.location
        var hasLeftover = self.hasLeftover
        guard hasLeftover || launched < current else { return }
        do throws(MigrationError) {
            guard let lock = try lock(file, options) else { return }
            defer { lock.unlock() }
            guard var state = try file.readState() else { throw .gone(location) }
            try file.recover(&state, lock, options: options)
            hasLeftover = false
            if state.marks.launched < current {
                state.marks.launched = current
                do throws(SaveFailure) {
                    try file.save(state)
                } catch {
                    throw .notSaved(
                        error,
                        nil,
                        location,
                        consequence: "Nothing depends on it but \"launch\"."
                    )
                }
            }
            self = state.marks
        } catch {
            // Without the lock or the state the files can't be put back: the code must forbid writing to them.
            if hasLeftover, error.code == .stateNotSaved || error.code == .stateUnreadable {
                let cause = error.underlyingError ?? error
                let path = error.path ?? location.state
                throw .protection(cause, path, location, interrupted?.version, .restoring)
            }
            if hasLeftover, error.code == .lockTimeout || error.code == .cancelled {
                throw error.beforeRestore(of: interrupted?.version)
            }
            guard error.code == .stateNotSaved else { throw error }
            options.onEvent?(MigrationEvent(.launchNotSaved, location.name, version: current, error: error))
        }
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
