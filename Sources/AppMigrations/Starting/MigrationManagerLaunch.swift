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
    package func launch(of current: AppVersion) -> MigrationManager.Launch {
        if isDowngrade(to: current) { return .downgrade(from: newest(above: current)) }
        return current > launched ? .upgrade(from: launched) : .same
    }
}

extension LockedState {
    /// Saves that `current` was launched, if that is new; gives the error of a save that failed.
    func raiseLaunched(to current: AppVersion) -> MigrationError? {
        guard var raised = state, raised.marks.launched < current else { return nil }
        raised.marks.launched = current
        guard let failure = note(raised) else { return nil }
        return .notSaved(failure, nil, location, consequence: "Nothing depends on it but \"launch\".")
    }
}

extension MigrationManager {
    /// Saves the version launched where the lock was held when the manager was made, if the lock is free.
    func saveOwedLaunch() {
        let failure: MigrationError?
        do throws(MigrationError) {
            // Where the state is gone, the next declaration that needs one says so.
            guard let locked = try LockedState.take(ifFree: file, reporter, recovering: false),
                let marks = locked.state?.marks
            else { return }
            try options.requireUpgradable(marks, to: currentVersion, file.location)
            failure = locked.raiseLaunched(to: currentVersion)
        } catch {
            failure = error
        }
        declarations.withLock { $0.launchSettled(current: currentVersion) }
        guard let failure else { return }
        reporter.send(MigrationEvent(.launchNotSaved, name, version: currentVersion, error: failure))
    }
}
