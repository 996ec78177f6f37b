extension MigrationManager {
    /// Forgets the processes that died in pending migrations, so that the limit of attempts lets these run again.
    ///
    /// For the button "try again" of a recovery screen, after `attemptLimitReached`. What has run, the baseline, checkpoints,
    /// the oldest app that may use the data and the history stay, and so does the count of attempts. A manager that was closed
    /// stays closed: make a new one, which begins again. Waits for the lock, and puts back what waits for that.
    ///
    /// - Throws: ``MigrationError`` with the code `readOnly`, `nested`, `lockTimeout`, `cancelled`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed` or `stateNotSaved`. Nothing was forgotten then.
    public func resetAttempts() throws(MigrationError) {
        try requireWritable()
        let locked = try lock()
        let before = try locked.existing()
        var state = before
        state.marks.resetAttempts()
        // A later declaration reads the counts under the lock, so this manager has nothing to learn from it.
        if state != before { try locked.save(state, nil, else: "No death was forgotten.") }
    }
}
