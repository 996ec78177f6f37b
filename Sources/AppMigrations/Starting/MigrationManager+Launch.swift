extension MigrationManager {
    /// How a start relates to the last one.
    public enum Launch: Sendable, Equatable {
        /// There was no state.
        case first

        /// The same version was started before.
        case same

        /// An older version was started before.
        case upgrade(from: AppVersion)

        /// A newer version was started, or ran migrations, before: nothing runs.
        case downgrade(from: AppVersion)
    }
}

extension StateMarks {
    /// How a start of `current` relates to the last one.
    func launch(of current: AppVersion) -> MigrationManager.Launch {
        if isDowngrade(to: current) { return .downgrade(from: newest(above: current)) }
        return current > launched ? .upgrade(from: launched) : .same
    }
}

extension LockedState {
    /// Saves that `current` was launched, if that is new; gives the error of a save that failed.
    func raiseLaunched(_ state: inout MigrationState, to current: AppVersion) -> MigrationError? {
        guard state.marks.launched < current else { return nil }
        var raised = state
        raised.marks.launched = current
        do throws(SaveFailure) {
            try save(raised)
            state = raised
            return nil
        } catch {
            if error.isRenamed { state = raised }
            let consequence: Message = "Nothing depends on it but \"launch\"."
            return .notSaved(error, nil, location, consequence: consequence)
        }
    }
}

extension MigrationManager {
    /// Saves the version launched where the lock was held when the manager was made, if the lock is free.
    func saveOwedLaunch() {
        do throws(MigrationError) {
            guard let lock = try FileLock.ifFree(file.location) else { return }
            let locked = LockedState(file, lock)
            defer { locked.unlock() }
            // A state that is gone is the next declaration's matter, which needs one.
            guard var state = try locked.read() else { return }
            let failure = locked.raiseLaunched(&state, to: currentVersion)
            settleLaunch()
            if let failure { throw failure }
        } catch {
            settleLaunch()
            let event = MigrationEvent(.launchNotSaved, name, version: currentVersion, error: error)
            RunToken.telling(event, of: file.location, lock: nil, options.onEvent)
        }
    }

    private func settleLaunch() {
        core.withLock { core in
            core.owesLaunch = false
            core.settle(currentVersion)
        }
    }
}
