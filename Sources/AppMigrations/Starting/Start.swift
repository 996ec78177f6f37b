/// The steps that a manager performs when it is created.
///
/// First, the state is read, or created on the first run. If a process crashed in a migration, the files that
/// the migration protects are restored. If this version of the app was never started before, that is saved in
/// the state.
struct Start: ~Copyable {
    let rules: UpgradeRules
    let timeout: Duration?
    let onEvent: (@Sendable (MigrationEvent) -> Void)?

    private var location: StateLocation { rules.location }
    private var file: StateFile { StateFile(location: location) }
    private var reporter: Reporter { Reporter(location, onEvent: onEvent) }

    /// Starts the manager.
    ///
    /// If there is nothing to restore and this version was started before, this only reads the state once.
    func outcome(
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        guard let versions = try file.readVersions() else { return try makeState(firstRun) }
        // Restore the files before checking whether the data is too old. If it is too old, this start throws,
        // but the app may still write to the files. A later restore would undo what it writes.
        if versions.awaitsRestore { return try restoreAndSaveLaunch(versions) }
        let found = try StartOutcome(found: versions, by: rules)
        return versions.launched >= rules.appVersion ? found : try restoreAndSaveLaunch(versions)
    }
}

extension Start {
    /// Takes the lock to restore the files of a migration in which a process crashed, and to save that this
    /// version of the app was started.
    ///
    /// If another process holds the lock and runs a closure, this start doesn't wait and changes nothing. A
    /// later start saves the version. If the other process is restoring files, this start waits until that
    /// process has finished.
    ///
    /// Three functions restore the files. ``LockedState/recover(keepingReplaced:)`` runs as soon as the lock
    /// is taken. It calls ``SavedFiles/restore(afterCrash:keepingReplaced:reportingTo:)``, which calls
    /// ``PathRestore/run()`` for each protected path.
    private func restoreAndSaveLaunch(_ found: StateVersions) throws(MigrationError) -> StartOutcome {
        // A read-only manager takes no lock and restores nothing.
        if location.isReadOnly { return try StartOutcome(found: found, by: rules) }
        var versions = found
        do throws(MigrationError) {
            let locked = try LockedState.takeIfFree(reporter, timeout: timeout) {
                () throws(MigrationError) in try awaitsRestore(rereading: &versions)
            }
            if let locked { return try saveLaunch(under: locked) }
        } catch {
            // If files have to be restored, the error is thrown, because the app must not write to them.
            // Otherwise an error of the save is ignored: a later start saves which version was started.
            if versions.awaitsRestore { throw forbiddingWrites(error, given: versions) }
            if error.code != .stateNotSaved { throw error }
        }
        return try StartOutcome(found: versions, by: rules)
    }

    /// Saves that this version was started, and returns the outcome of this start.
    ///
    /// Whether this is an upgrade or a downgrade is decided by the state that was read while the lock is
    /// held: a newer version may have been started since the first read.
    private func saveLaunch(under locked: LockedState) throws(MigrationError) -> StartOutcome {
        let state = try locked.existing()
        // Check before saving whether this app can upgrade the data. If it can't, this throws, and the state
        // must not say that the app was started.
        var found = try StartOutcome(found: state.versions, by: rules)
        if state.versions.launched >= rules.appVersion { return found }
        // An error of this save is ignored: a later start saves the version, and nothing depends on it
        // before.
        _ = locked.saveBestEffort(state.recordingLaunch(of: rules.appVersion))
        found.versions = try locked.existing().versions
        return found
    }

    /// True if files have to be restored, and the closure for which they were copied isn't running any more.
    ///
    /// If that closure isn't running, this also reads `versions` again.
    private func awaitsRestore(rereading versions: inout StateVersions) throws(MigrationError) -> Bool {
        guard versions.awaitsRestore else { return false }
        do throws(SystemCallError) {
            // While the closure runs, its process keeps the list of protected files locked.
            if let snapshot = try location.existingSnapshot(), try Platform.isLocked(snapshot + "/list") {
                return false
            }
        } catch {
            throw location.protectionError(.restoring, of: versions.interruption?.version, because: error)
        }
        versions = try file.readVersions() ?? versions
        return versions.awaitsRestore
    }

    /// Adds to an error that the app must not write to the protected files.
    ///
    /// The files can't be restored now, because the lock or the state isn't available. A later start restores
    /// them, which would undo what the app writes to them before.
    private func forbiddingWrites(_ error: MigrationError, given versions: StateVersions) -> MigrationError {
        let version = versions.interruption?.version
        switch error.code {
        case .stateNotSaved, .stateUnreadable:
            return location.protectionError(.restoring, of: version, because: error)
        case .lockTimeout, .cancelled:
            let migration: Message = version.map { "migration \($0)" } ?? "a migration"
            return error.adding(
                """
                Nothing was run. The files that \(migration) protects are being restored. Don't write to them before a start has \
                succeeded.
                """,
                version: version
            )
        default: return error
        }
    }

    /// Creates the state on the first run, unless another process creates it first.
    @inline(never)
    private func makeState(
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        try DefaultLocation.requireNoEscapes(location)
        // A read-only manager doesn't create a state.
        if location.isReadOnly { return try StartOutcome(first: answer(of: firstRun), by: rules) }
        let locked: LockedState
        do throws(MigrationError) {
            locked = try LockedState.take(reporter, timeout: timeout)
        } catch {
            // This start found no state, but since then another task of this process has created the state
            // and is migrating. This thread must not wait for that task, because the task may need this
            // thread.
            if error.code == .nested, let versions = try file.readVersions() {
                return try StartOutcome(found: versions, by: rules)
            }
            throw error
        }
        // Another process created the state while this one waited for the lock.
        if locked.state != nil { return try saveLaunch(under: locked) }
        let outcome = try StartOutcome(first: answer(of: firstRun), by: rules)
        // Check that the lock file still exists: the app's `firstRun:` expression may have removed the folder
        // that contains the file.
        try locked.confirmLock()
        locked.keepCopiesOfLostState()
        do throws(MigrationError) {
            try locked.save(MigrationState(name: location.name, versions: outcome.versions))
        } catch {
            throw error.adding("Nothing was run.")
        }
        return outcome
    }

    private func answer(
        of firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> MigrationManager.FirstRun {
        do {
            return try RunToken.withToken(of: location, firstRun)
        } catch {
            throw .firstRunFailed(error, location)
        }
    }
}

extension MigrationError {
    package static func firstRunFailed(_ cause: any Error, _ location: StateLocation) -> MigrationError {
        let text: Message = """
            The firstRun: expression of \(location) failed: \(sentence(cause)) \
            No state was written and no migration was run. The next manager evaluates firstRun: again.
            """
        return location.error(.firstRunFailed, because: cause, text)
    }
}
