// The methods in this file are called by the app. The recovery that each start does by itself is in
// `LockedState.recover()`.

extension MigrationManager {
    /// Sets the version of the data, for recovery and for tests.
    ///
    /// Every version after it is pending again. What the state stores about an unfinished migration is
    /// removed, even if that migration has reached the limit of attempts. `version` becomes the baseline. The
    /// app's version is stored as the newest version that was started. Migrations above `version` are removed
    /// from the history. The minimum app version stays, because it is only ever raised.
    ///
    /// If this manager was closed, it is open again, and you declare the migrations again from the first. If
    /// you have other managers for this state, replace them with new ones. This waits for the lock.
    ///
    /// - Throws: ``MigrationError`` with the code `readOnly`, `invalidVersion`, `newerThanCurrentVersion`,
    ///   `tooOld`, `usedByNewerApp` (in an app that has a ``requiredAppVersion``), `managerClosed` (if this
    ///   is the manager of a plan that is over), `nested`, `lockTimeout`, `cancelled`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed` or `stateNotSaved`.
    public func reset(to version: String) throws(MigrationError) {
        let unchanged: Message = "lastRunVersion was not changed."
        do throws(MigrationError) {
            let versions = try rules.versions(resetTo: version)
            let locked = try takeLock()
            let state = try rules.resetting(locked.existing(), to: versions)
            try locked.save(state, version: versions.lastRun, consequenceOfFailure: unchanged)
            declarations.withLock { $0.reopen(at: state.versions) }
        } catch {
            throw error.completed(by: unchanged)
        }
    }

    /// Checks a version before a reset, for a caller that has to reset something else first.
    ///
    /// - Throws: The errors that ``reset(to:)`` throws without reading the state.
    package func resetVersion(_ text: String) throws(MigrationError) -> AppVersion {
        do throws(MigrationError) {
            try requireWritable()
            return try rules.versions(resetTo: text).lastRun
        } catch {
            throw error.completed(by: "Nothing was reset.")
        }
    }

    /// Sets the number of deaths of every pending migration to 0, so that migrations that have reached the
    /// limit of attempts can run again.
    ///
    /// It is for the button "Try Again" of a recovery screen, after `attemptLimitReached`. The last-run
    /// version, the baseline, checkpoints, the minimum app version, the history and the counts of attempts
    /// stay. A closed manager stays closed: make a new one, which begins again. This waits for the lock, and
    /// restores protected files of a process that died.
    ///
    /// - Throws: ``MigrationError`` with the code `readOnly`, `managerClosed`, `nested`, `lockTimeout`,
    ///   `cancelled`, `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed` or
    ///   `stateNotSaved`. If it throws, nothing was changed.
    public func resetAttempts() throws(MigrationError) {
        let unchanged: Message = "The counts of deaths were not changed."
        do throws(MigrationError) {
            let locked = try takeLock()
            let before = try locked.existing()
            let state = before.resettingAttempts()
            // A later declaration reads the counts under the lock, so the versions of this manager needn't be
            // updated.
            if state != before {
                try locked.save(state, version: nil, consequenceOfFailure: unchanged)
            }
        } catch {
            throw error.completed(by: unchanged)
        }
    }

    /// Moves the state file to another name.
    ///
    /// The next manager that is created finds no state, so it begins with a first run.
    ///
    /// It is for a recovery screen or a tool's command, if the state is damaged, has a newer format, or can't
    /// be trusted any more. It needs no manager, so it works even if none can be made. Nothing is deleted.
    ///
    /// Protected files of a process that died are restored first. If the state can't be read, nobody knows
    /// which files these are. Then their copies are moved next to the state, to
    /// `<name>.migrations.kept-<time>`, and this library doesn't touch them again.
    ///
    /// It waits for a migration that is running, and creates no files if there is no state. A manager
    /// that was created before this call still has the old state in memory, and throws `stateUnreadable` when
    /// it has to run a migration. So create a new manager, and pass the data that exists as `firstRun:`.
    /// Migrations that are recorded in a database stay recorded there.
    ///
    /// - Parameters:
    ///   - name: The name of the manager.
    ///   - stateDirectory: The absolute path of the folder for the state, as for the manager.
    ///   - lockTimeout: How long to wait for the lock; `nil` waits as long as it takes.
    /// - Returns: The path to which the state was moved, `<name>.migrations.forgotten-<time>` in the same
    ///   folder; `nil` if there was no state.
    /// - Throws: ``MigrationError`` with the code `invalidName`, `unusableDirectory`, `nested`,
    ///   `lockTimeout`, `cancelled`, `stateUnreadable` (the folder can't be read, or the device hasn't been
    ///   unlocked yet), `protectionFailed` (files can't be restored: call
    ///   ``abandonRestore(named:stateDirectory:lockTimeout:)`` before), or `stateNotSaved`. If it throws, the
    ///   state wasn't moved, unless the error's description says otherwise.
    public static func forgetState(
        named name: String = "default",
        stateDirectory: String? = nil,
        lockTimeout: Duration? = nil
    ) throws(MigrationError) -> String? {
        do throws(MigrationError) {
            let location = try DefaultLocation.of(name, in: stateDirectory)
            // Check without the lock first: taking it would make its folder, even if there is nothing to
            // forget.
            guard try StateFile(location: location).exists() else { return nil }
            return try LockedState.takeToForget(Reporter(location), timeout: lockTimeout).moveStateAside()
        } catch {
            throw error.completed(by: "The state was not moved.")
        }
    }

    /// Abandons the restore of protected files: they stay as they are, and their copies are kept.
    ///
    /// It is for a recovery screen, if every start throws `protectionFailed` because the files can't be
    /// restored, and the cause can't be fixed. The copies are moved to a folder next to the state, or marked
    /// in their place if they can't be moved. This library never touches them again.
    ///
    /// The migration stays pending. The next start runs its closure on the files as they are, with
    /// ``MigrationContext/isRetry``; the app can copy from that folder before. If another manager couldn't
    /// run its migration because it protects the same files, it can run it now.
    ///
    /// It works in every version of the app, and makes nothing if no files have to be restored. It waits for
    /// the lock.
    ///
    /// - Parameters:
    ///   - name: The name of the manager.
    ///   - stateDirectory: The absolute path of the folder for the state, as for the manager.
    ///   - lockTimeout: How long to wait for the lock; `nil` waits as long as it takes.
    /// - Returns: The folder with the copies; `nil` if no files have to be restored, or if the copies are
    ///   lost. In it, `0/item` is the copy for the first path of `protecting:`, `1/item` for the second, and
    ///   so on. Paths inside other paths aren't counted. `0/absent` means that nothing existed at the first
    ///   path. If a restore had already begun, items that are missing here have been restored. Of a folder,
    ///   the entries that are still in `0/item.entries` haven't been restored.
    /// - Throws: ``MigrationError`` with the code `invalidName`, `unusableDirectory`, `nested`,
    ///   `lockTimeout`, `cancelled`, `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`,
    ///   `stateNotSaved` or `protectionFailed`. Nothing is lost then, and you can call it again.
    public static func abandonRestore(
        named name: String = "default",
        stateDirectory: String? = nil,
        lockTimeout: Duration? = nil
    ) throws(MigrationError) -> String? {
        do throws(MigrationError) {
            return try abandonRestore(
                in: DefaultLocation.of(name, in: stateDirectory),
                lockTimeout: lockTimeout
            )
        } catch {
            throw error.completed(by: "No restore was abandoned.")
        }
    }

    private static func abandonRestore(
        in location: StateLocation,
        lockTimeout: Duration?
    ) throws(MigrationError) -> String? {
        // Check without the lock first: taking it would make its folder, even if there is nothing to abandon.
        guard let found = try StateFile(location: location).readState(), found.versions.awaitsRestore else {
            return nil
        }
        let locked = try LockedState.take(Reporter(location), timeout: lockTimeout, recovering: false)
        guard let state = locked.state, state.versions.awaitsRestore,
            let interruption = state.versions.interruption
        else { return nil }
        do {
            let time = interruption.startedAt
            let files = try SavedFiles(in: location, of: interruption.version)
            let kept = try files?.keep(asOf: time) ?? SavedFiles.lastKept(of: location, asOf: time)
            try locked.save(state.endingRestore())
            return kept
        } catch {
            throw location.protectionError(.abandoning, of: interruption.version, because: error)
        }
    }

    private func requireWritable() throws(MigrationError) {
        if let error = declarations.withLock({ $0.endOfPlanError }) { throw error }
        if location.isReadOnly { throw .readOnly(location) }
    }

    private func takeLock() throws(MigrationError) -> LockedState {
        try requireWritable()
        return try LockedState.take(reporter, timeout: options.lockTimeout)
    }
}
