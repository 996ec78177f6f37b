/// The start of one manager.
///
/// It reads the state, or makes it on the first run. If a process died, it restores the protected files. If
/// this version of the app was never started before, it saves that it was.
struct Start: ~Copyable {
    let rules: UpgradeRules
    let timeout: Duration?
    let onEvent: (@Sendable (MigrationEvent) -> Void)?

    private var location: StateLocation { rules.location }
    private var file: StateFile { StateFile(location: location) }
    private var reporter: Reporter { Reporter(location, onEvent: onEvent) }

    /// Starts the manager.
    ///
    /// If nothing is pending, this reads the state once and does nothing else.
    func outcome(
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        guard let marks = try file.readMarks() else { return try makeState(firstRun) }
        // Restore files before the data can be refused as too old: the app may write to them in either case.
        if marks.awaitsRestore { return try restoreAndSaveLaunch(marks) }
        let found = try StartOutcome(found: marks, by: rules)
        return marks.launched >= rules.appVersion ? found : try restoreAndSaveLaunch(marks)
    }
}

extension Start {
    /// Takes the lock to restore the files of a process that died, and to save which version of the app was
    /// started.
    ///
    /// If another process holds the lock and runs a closure, nothing is changed; the next start saves the
    /// version. If the other process restores files, this start waits for it.
    ///
    /// ``LockedState/recover()`` restores the files when the lock is taken. It calls
    /// ``SavedFiles/restore(reportingTo:)``, which calls ``PathRestore/run()`` for each path.
    private func restoreAndSaveLaunch(_ found: StateMarks) throws(MigrationError) -> StartOutcome {
        // A read-only manager takes no lock and restores nothing.
        if location.isReadOnly { return try StartOutcome(found: found, by: rules) }
        var marks = found
        do throws(MigrationError) {
            let locked = try LockedState.take(ifFree: reporter, timeout: timeout) {
                () throws(MigrationError) in try awaitsRestore(rereading: &marks)
            }
            if let locked { return try saveLaunch(under: locked) }
        } catch {
            // If the lock can't be taken or the state can't be saved, the next start saves which version was
            // started.
            if marks.awaitsRestore { throw forbiddingWrites(error, while: marks) }
            if error.code != .stateNotSaved { throw error }
        }
        return try StartOutcome(found: marks, by: rules)
    }

    /// Saves that this version was started, and returns the marks.
    ///
    /// The launch is determined from the state under the lock, because a newer version may have been started
    /// since the state was read.
    private func saveLaunch(under locked: LockedState) throws(MigrationError) -> StartOutcome {
        let state = try locked.existing()
        // An app that can't upgrade the data isn't saved as started on it. So this comes first.
        var found = try StartOutcome(found: state.marks, by: rules)
        if state.marks.launched >= rules.appVersion { return found }
        // If this fails, the next start saves it. Nothing else depends on it.
        _ = locked.saveBestEffort(state.launched(by: rules.appVersion))
        found.marks = try locked.existing().marks
        return found
    }

    /// True if files wait to be restored, and the closure that they were copied for doesn't run any more.
    ///
    /// Reads the marks again unless that closure runs.
    private func awaitsRestore(rereading marks: inout StateMarks) throws(MigrationError) -> Bool {
        guard marks.awaitsRestore else { return false }
        do throws(SystemCallError) {
            // While the closure runs, its process holds a lock on the list of the copies.
            if let snapshot = try location.existingSnapshot(), try Platform.isLocked(snapshot + "/list") {
                return false
            }
        } catch {
            throw location.protectionError(.restoring, of: marks.interruption?.version, because: error)
        }
        marks = try file.readMarks() ?? marks
        return marks.awaitsRestore
    }

    /// An error that tells the app not to write to the protected files.
    ///
    /// Without the lock or the state they can't be restored now. A later restore would undo the app's writes.
    private func forbiddingWrites(_ error: MigrationError, while marks: StateMarks) -> MigrationError {
        let version = marks.interruption?.version
        switch error.code {
        case .stateNotSaved, .stateUnreadable:
            return location.protectionError(.restoring, of: version, because: error)
        case .lockTimeout, .cancelled:
            let migration: Message = version.map { "migration \($0)" } ?? "a migration"
            return error.adding(
                """
                Nothing was run. The files that \(migration) protects are being put back. Don't write to them before a start has \
                succeeded.
                """,
                version: version
            )
        default: return error
        }
    }

    /// Makes the state on the first run, unless another process makes it first.
    @inline(never)
    private func makeState(
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        try DefaultLocation.refuseEscapes(location)
        // A read-only manager doesn't make the state that another manager would make.
        if location.isReadOnly { return try StartOutcome(first: answer(of: firstRun), by: rules) }
        let locked: LockedState
        do throws(MigrationError) {
            locked = try LockedState.take(reporter, timeout: timeout)
        } catch {
            // A task of this process has made the state since it was missed, and is migrating. Don't wait for
            // it.
            if error.code == .nested, let marks = try file.readMarks() {
                return try StartOutcome(found: marks, by: rules)
            }
            throw error
        }
        // Another process has made the state while this one waited for the lock. It may even have died in a
        // migration.
        if locked.state != nil { return try saveLaunch(under: locked) }
        let outcome = try StartOutcome(first: answer(of: firstRun), by: rules)
        // The app's `firstRun:` may have removed the folder and the lock in it.
        try locked.confirmLock()
        locked.keepUnlisted()
        do throws(MigrationError) {
            try locked.save(MigrationState(name: location.name, marks: outcome.marks))
        } catch {
            throw error.adding("Nothing was run.")
        }
        return outcome
    }

    private func answer(
        of firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> MigrationManager.FirstRun {
        do {
            return try RunToken.marking(location, firstRun)
        } catch {
            throw .firstRunFailed(error, location)
        }
    }
}

extension MigrationError {
    package static func firstRunFailed(_ cause: any Error, _ location: StateLocation) -> MigrationError {
        let text: Message = """
            The firstRun: expression of \(location) failed: \(sentence(cause)) \
            No state was written. Nothing was run. The next manager asks again.
            """
        return location.error(.firstRunFailed, because: cause, text)
    }
}
