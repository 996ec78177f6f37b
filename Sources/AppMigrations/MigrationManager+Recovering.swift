// The app asks for what is here. A start does ``LockedState/recover()`` by itself.

extension MigrationManager {
    /// Says that the data is at `version`, whatever happened before.
    ///
    /// Everything after it is pending again, and an interruption is cleared, also one that had reached the limit of
    /// attempts. The version becomes the baseline, the app's version the newest launched, and the rows above it leave the history. A closed
    /// manager is opened and its declarations begin again. What ``requiredAppVersion`` asks for stays, since it is only ever raised. For recovery and
    /// for tests; waits for the lock. Make other managers of the state anew.
    ///
    /// - Throws: ``MigrationError`` with the code `readOnly`, `invalidVersion`, `newerThanCurrentVersion`, `tooOld`,
    ///   `usedByNewerApp` (in an app that has a ``requiredAppVersion``), `managerClosed` (of a manager whose plan is over), `nested`, `lockTimeout`,
    ///   `cancelled`, `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed` or `stateNotSaved`.
    public func reset(to version: String) throws(MigrationError) {
        let unchanged: Message = "lastRunVersion was not changed."
        do throws(MigrationError) {
            let marks = try release.mark(version)
            let locked = try lock()
            let state = try release.resetting(locked.existing(), to: marks)
            try locked.save(state, marks.lastRun, else: unchanged)
            declarations.withLock { $0.reopen(state.marks) }
        } catch {
            throw error.completed(by: unchanged)
        }
    }

    /// The version to which a reset sets the state, before anything else is reset.
    ///
    /// - Throws: What ``reset(to:)`` throws without reading the state.
    package func resetVersion(_ text: String) throws(MigrationError) -> AppVersion {
        do throws(MigrationError) {
            try requireWritable()
            return try release.mark(text).lastRun
        } catch {
            throw error.completed(by: "Nothing was reset.")
        }
    }

    /// Forgets the processes that died in pending migrations, so that the limit of attempts lets these run again.
    ///
    /// For the button "try again" of a recovery screen, after `attemptLimitReached`. What has run, the baseline, checkpoints,
    /// the oldest app that may use the data and the history stay, and so does the count of attempts. A manager that was closed
    /// stays closed: make a new one, which begins again. Waits for the lock, and puts back what waits for that.
    ///
    /// - Throws: ``MigrationError`` with the code `readOnly`, `managerClosed`, `nested`, `lockTimeout`, `cancelled`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed` or `stateNotSaved`. Nothing was forgotten then.
    public func resetAttempts() throws(MigrationError) {
        let unchanged: Message = "The counts of deaths were not changed."
        do throws(MigrationError) {
            let locked = try lock()
            let before = try locked.existing()
            let state = before.resettingAttempts()
            // A later declaration reads the counts under the lock, so this manager has nothing to learn from it.
            if state != before { try locked.save(state, nil, else: unchanged) }
        } catch {
            throw error.completed(by: unchanged)
        }
    }

    /// Moves the state aside: the next manager is a first run.
    ///
    /// For a recovery screen or a tool's command, when the state is damaged, of a newer format, or not to be trusted any more. It needs
    /// no manager, so it works when none can be made. Nothing is deleted. Protected files that wait to be put back are put back first.
    /// If the state can't be read, nobody knows which files these are: their copies are moved next to the state then, to
    /// `<name>.migrations.kept-<time>`, and this library doesn't touch them again.
    ///
    /// It waits for a migration that is running, and makes nothing if there is no state. Managers that exist go on with what they know
    /// until they have something to run, and throw `stateUnreadable` then: make them anew, and let `firstRun:` say which data is there.
    /// What ran in a database stays recorded there.
    ///
    /// - Parameters:
    ///   - name: The name of the manager.
    ///   - stateDirectory: The absolute path of the folder for the state, as for the manager.
    ///   - lockTimeout: How long to wait for the lock; `nil` waits as long as it takes.
    /// - Returns: The path to which the state was moved, `<name>.migrations.forgotten-<time>` in the same folder; `nil` if there was
    ///   none.
    /// - Throws: ``MigrationError`` with the code `invalidName`, `unusableDirectory`, `nested`, `lockTimeout`, `cancelled`,
    ///   `stateUnreadable` (the folder can't be read, or the device hasn't been unlocked yet), `protectionFailed` (files can't be put
    ///   back: ``abandonRestore(named:stateDirectory:lockTimeout:)`` gives them up), or `stateNotSaved`. The state is where it was then,
    ///   unless the text says otherwise.
    public static func forgetState(
        named name: String = "default",
        stateDirectory: String? = nil,
        lockTimeout: Duration? = nil
    ) throws(MigrationError) -> String? {
        do throws(MigrationError) {
            let location = try DefaultLocation.of(name, in: stateDirectory)
            // A first look without the lock: to take it would make its folder, also if there is nothing to forget.
            guard try StateFile(location: location).exists() else { return nil }
            return try LockedState.takeToForget(Reporter(location), timeout: lockTimeout).moveStateAside()
        } catch {
            throw error.completed(by: "The state was not moved.")
        }
    }

    /// Gives up putting protected files back: they stay as they are, and their copies are kept.
    ///
    /// For a recovery screen: every start throws `protectionFailed`, because the files can't be put back, and the reason can't be
    /// mended. The copies move to a folder beside the state, or stay at their place with a mark where they can't be moved. This
    /// library never touches them again. The migration stays pending, and the next start runs its closure on the files as they are,
    /// with ``MigrationContext/isRetry``; the app can copy from that folder before. A manager that was refused for files of this
    /// one gets them then.
    ///
    /// It works in every version of the app, and makes nothing where nothing waits to be put back. It waits for the lock.
    ///
    /// - Parameters:
    ///   - name: The name of the manager.
    ///   - stateDirectory: The absolute path of the folder for the state, as for the manager.
    ///   - lockTimeout: How long to wait for the lock; `nil` waits as long as it takes.
    /// - Returns: The folder with the copies: `0/item` is what the first path of `protecting:` named, `1/item` the second,
    ///   of those that stood in no other; `0/absent` says that nothing was there. Where the restore had begun, an item that is
    ///   missing has been put back, but for what of a folder is in `0/item.entries`. `nil` where nothing waits to be put back, or the copies are lost.
    /// - Throws: ``MigrationError`` with the code `invalidName`, `unusableDirectory`, `nested`, `lockTimeout`, `cancelled`,
    ///   `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`, `stateNotSaved` or `protectionFailed`. Nothing is lost
    ///   then; call it again.
    public static func abandonRestore(
        named name: String = "default",
        stateDirectory: String? = nil,
        lockTimeout: Duration? = nil
    ) throws(MigrationError) -> String? {
        do throws(MigrationError) {
            return try abandonRestore(DefaultLocation.of(name, in: stateDirectory), lockTimeout)
        } catch {
            throw error.completed(by: "No restore was given up.")
        }
    }

    private static func abandonRestore(
        _ location: StateLocation,
        _ lockTimeout: Duration?
    ) throws(MigrationError) -> String? {
        // A first look without the lock: to take it would make its folder, also where there is nothing to give up.
        guard try StateFile(location: location).readState()?.marks.awaitsRestore == true else { return nil }
        let locked = try LockedState.take(Reporter(location), timeout: lockTimeout, recovering: false)
        guard let state = locked.state, state.marks.awaitsRestore, let interrupted = state.marks.interruption
        else { return nil }
        do {
            let time = interrupted.startedAt
            let files = try SavedFiles(in: location, of: interrupted.version)
            let kept = try files?.keep(asOf: time) ?? SavedFiles.lastKept(of: location, asOf: time)
            try locked.save(state.endingRestore())
            return kept
        } catch {
            throw location.protectionError(.abandoning, of: interrupted.version, because: error)
        }
    }

    private func requireWritable() throws(MigrationError) {
        if let ended = declarations.withLock({ $0.endOfPlan }) { throw ended }
        if file.location.isReadOnly { throw .readOnly(file.location) }
    }

    private func lock() throws(MigrationError) -> LockedState {
        try requireWritable()
        return try LockedState.take(reporter, timeout: options.lockTimeout)
    }
}
