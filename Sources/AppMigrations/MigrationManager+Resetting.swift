extension MigrationManager {
    /// Sets the version of the data, for recovery and for tests.
    ///
    /// Every version after `version` is pending again. The state forgets its unfinished migrations. So a
    /// migration that has reached the limit of attempts can run again. `version` becomes the baseline. The
    /// app's version is stored as the newest launched version. Migrations above `version` are removed from
    /// the history. The minimum app version stays, because it is only ever raised.
    ///
    /// If this manager was closed, this call opens it again. Then declare the migrations again, beginning
    /// with the first. If you have other managers for this state, replace them with new ones. This call waits
    /// for the lock.
    ///
    /// - Throws: ``MigrationError`` with the code `readOnly`, `invalidVersion`, `newerThanCurrentVersion`,
    ///   `tooOld`, `usedByNewerApp` (in an app that has a ``requiredAppVersion``), `managerClosed` (if this
    ///   is the manager of a plan that is over), `nested`, `lockTimeout`, `cancelled`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `replacementFailed` or `stateNotSaved`.
    public func reset(to version: String) throws(MigrationError) {
        let unchanged: Message = "lastRunVersion was not changed."
        do throws(MigrationError) {
            let versions = try rules.versions(resetTo: version)
            var locked = try takeLock()
            let state = try rules.resetting(locked.existing(), to: versions)
            try locked.save(state, version: versions.lastRun, orEndIn: unchanged)
            declarations.withLock { $0.reopen(at: state.versions) }
        } catch {
            throw error.leaving(.text(unchanged))
        }
    }

    /// Checks whether ``reset(to:)`` accepts a version, for a caller that has to reset a database first.
    ///
    /// - Throws: The errors that ``reset(to:)`` can throw before it reads the state.
    package func versionToReset(to text: String) throws(MigrationError) -> AppVersion {
        do throws(MigrationError) {
            try requireWritable()
            return try rules.versions(resetTo: text).lastRun
        } catch {
            throw error.leaving(.text("Nothing was reset."))
        }
    }

    /// Lets migrations that have reached the limit of attempts run again.
    ///
    /// Call it for a "Try Again" button on a recovery screen, after `attemptLimitReached`. The limit counts
    /// the processes that crashed in a migration. This call sets that count to 0 for every pending migration.
    /// Everything else in the state stays, including the number of attempts.
    ///
    /// A closed manager stays closed, so create a new one and declare the migrations again. This call waits
    /// for the lock.
    ///
    /// - Throws: ``MigrationError`` with the code `readOnly`, `managerClosed`, `nested`, `lockTimeout`,
    ///   `cancelled`, `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`, `replacementFailed` or
    ///   `stateNotSaved`. If it throws, the counts were not changed.
    public func resetAttempts() throws(MigrationError) {
        let unchanged: Message = "The counts of crashes were not changed."
        do throws(MigrationError) {
            var locked = try takeLock()
            let before = try locked.existing()
            let state = before.changed { $0.resetAttempts() }
            // This manager keeps its old counts: a later declaration reads them again while it holds the
            // lock.
            if state != before { try locked.save(state, orEndIn: unchanged) }
        } catch {
            throw error.leaving(.text(unchanged))
        }
    }

    func requireWritable() throws(MigrationError) {
        if let error = declarations.withLock({ $0.endOfPlanError }) { throw error }
        if options.isReadOnly { throw .readOnly(location) }
    }

    private func takeLock() throws(MigrationError) -> LockedState {
        try requireWritable()
        var locked = try LockedState(FileLock.take(at: location, options: options), at: location)
        try locked.settleReplacements(sendingTo: options.onEvent)
        return locked
    }
}
