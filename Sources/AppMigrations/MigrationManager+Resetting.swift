extension MigrationManager {
    /// Sets the mark: the data is at `version`, whatever happened before.
    ///
    /// Everything after it is pending again, and an interruption is cleared, also one that had reached the limit of
    /// attempts. The version becomes the baseline, the app's version the newest launched. A closed manager is opened and
    /// its declarations begin again. The floor of ``requiredAppVersion`` stays, since it is only ever raised. For recovery and
    /// for tests; waits for the lock.
    ///
    /// - Throws: ``MigrationError`` with the code `readOnly`, `invalidVersion`, `newerThanCurrentVersion`, `tooOld`,
    ///   `overtaken` (in an app that has a ``requiredAppVersion``), `nested`, `lockTimeout`, `cancelled`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed` or `stateNotSaved`.
    public func reset(to version: String) throws(MigrationError) {
        try requireWritable()
        let marks = try release.mark(version)
        let locked = try lock()
        let state = try release.resetting(locked.existing(), to: marks)
        try locked.save(state, marks.lastRun, else: "The mark was not set.")
        declarations.withLock { $0.reopen(state.marks, current: currentVersion) }
    }

    /// Removes the state: this manager is blocked then, and the next one is a first run.
    ///
    /// Waits for the lock.
    ///
    /// - Throws: ``MigrationError`` with the code `readOnly`, `nested`, `lockTimeout`, `cancelled`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed` or `stateNotSaved`.
    public func forgetState() throws(MigrationError) {
        try requireWritable()
        try lock().remove()
        declarations.withLock { $0.forget(.forgotten(file.location)) }
    }

    func lock() throws(MigrationError) -> LockedState {
        // The manager of a plan that has ended may not change the state.
        if observer?.planner != nil, let ended = declarations.withLock({ $0.firstFailure }) { throw ended }
        return try LockedState.take(file, reporter, timeout: options.lockTimeout)
    }
}
