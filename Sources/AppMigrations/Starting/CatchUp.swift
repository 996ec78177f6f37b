extension StateMarks {
    /// Puts back what a killed process left protected, and raises the version launched, if the lock is free.
    ///
    /// Where the lock is held by a process that is migrating, nothing is touched. Where it is held by a process that puts
    /// those files back, the start waits.
    mutating func catchUp(
        _ file: StateFile,
        current: AppVersion,
        options: MigrationManager.Options
    ) throws(MigrationError) -> StartOutcome {
        let location = file.location
        guard !options.isReadOnly, hasLeftover || hasSpentSnapshot || launched < current else {
            return StartOutcome(marks: self, launch: launch(of: current))
        }
        // A handler that is told of a save which failed, and makes a manager, would be told of the next failure.
        let isTold = hasLeftover ? false : try isInsideHandler(of: location)
        if isTold { return try StartOutcome.held(self, file, current, options) }
        let reporter = Reporter(location: location, onEvent: options.onEvent)
        do throws(MigrationError) {
            let outcome = try catchUp(file, reporter, current: current, options)
            outcome.report(reporter, current)
            return outcome
        } catch {
            let version = interruption?.version
            // Without the lock or the state the files can't be put back. So the error's code has to forbid the app to write to
            // them.
            if hasLeftover, error.code == .stateNotSaved || error.code == .stateUnreadable {
                let cause = error.underlyingError ?? error
                let failure = ProtectionFailure.failed(cause, error.path ?? location.state, .restoring)
                throw .protection(failure, location, version)
            }
            if hasLeftover, error.code == .lockTimeout || error.code == .cancelled {
                throw error.beforeRestore(of: version)
            }
            guard error.code == .stateNotSaved else { throw error }
            var outcome = StartOutcome(marks: self, launch: launch(of: current))
            outcome.launchFailure = error
            outcome.report(reporter, current)
            return outcome
        }
    }

    private mutating func catchUp(
        _ file: StateFile,
        _ reporter: Reporter,
        current: AppVersion,
        _ options: MigrationManager.Options
    ) throws(MigrationError) -> StartOutcome {
        var failure: MigrationError?
        let locked = try LockedState.take(ifFree: file, reporter, timeout: options.lockTimeout) {
            do throws(MigrationError) {
                return try awaitsRestore(file)
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        guard let locked else { return try StartOutcome.held(self, file, current, options) }
        return try StartOutcome.found(locked, current, options)
    }

    private func isInsideHandler(of location: StateLocation) throws(MigrationError) -> Bool {
        do throws(LockFailure) {
            return try RunToken.isInside(location)
        } catch {
            throw .lock(error, location)
        }
    }

    /// Whether files are to be put back, and the closure that they were copied for isn't running any more.
    private mutating func awaitsRestore(_ file: StateFile) throws(MigrationError) -> Bool {
        guard hasLeftover else { return false }
        let location = file.location
        do throws(SystemCallError) {
            if try SnapshotClaim.stands(location) { return false }
        } catch {
            let failure = ProtectionFailure.failed(error, location.snapshot, .restoring)
            throw .protection(failure, location, interruption?.version)
        }
        if case .marks(let marks) = try file.readMarks() { self = marks }
        return hasLeftover
    }
}
