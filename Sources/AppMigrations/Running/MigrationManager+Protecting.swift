extension MigrationRun {
    var isProtecting: Bool { state.marks.hasLeftover }
}

extension MigrationManager {
    /// Brings the work of a closure that returned to the medium, or puts the protected files back: a record may not outlive
    /// what it tells of.
    func synchronize(_ run: MigrationRun) throws(MigrationError) {
        do throws(MigrationError) {
            try run.protection?.synchronize(file.location, run.context.version)
        } catch let failure {
            let restored: Message
            do throws(MigrationError) {
                restored = try putBack(run, failure: failure.description)
            } catch {
                throw error.following(failure)
            }
            throw failure.appending(restored)
        }
    }

    /// After an attempt that isn't recorded: puts the protected files back, saves the intent with the failure
    /// and without the list, and only then removes the snapshot.
    ///
    /// Gives a sentence about it for the error.
    func putBack(_ run: MigrationRun, failure: String) throws(MigrationError) -> Message {
        var state = run.state
        let version = run.context.version
        // Scalars, since one character can hold any number of them, and the state has a limit of size.
        state.marks.interrupted?.failure = String(failure.unicodeScalars.prefix(MigrationState.failureLimit))
        guard run.isProtecting else {
            let isNoted = saveAttempt(state, run.locked) == nil
            return isNoted ? "" : " The attempt could not be noted either and counts as a death."
        }
        do throws(MigrationError) {
            if let interrupted = run.state.marks.interrupted { try run.locked.restore(interrupted) }
        } catch {
            _ = saveAttempt(state, run.locked)
            throw error
        }
        state.marks.interrupted?.release()
        // While the list stands the next start puts the files back again, over whatever is written to them meanwhile.
        if let failure = saveAttempt(state, run.locked) {
            throw .protection(failure.cause, stateFile, file.location, version, .noting)
        }
        // Not before: who makes a manager while the list stands waits for this thread, and the handler may wait for them.
        run.locked.tell(MigrationEvent(.restored, name, version: version), options)
        run.locked.removeSnapshot(version, options: options)
        return " The protected files are what they were before it."
    }

    /// The attempt's end is noted if it can be: the error that ended it is the one to report.
    private func saveAttempt(_ state: MigrationState, _ locked: LockedState) -> SaveFailure? {
        do throws(SaveFailure) {
            try locked.save(state)
            core.withLock { $0.marks = state.marks }
            return nil
        } catch {
            if error.isRenamed { core.withLock { $0.marks = state.marks } }
            return error
        }
    }

    /// The error of a closure that ended without its lock: nothing of it is recorded or put back.
    ///
    /// Where it protects files, the list of them may stand in the state, so the error is one that forbids writing to them.
    func lost(_ run: MigrationRun, _ loss: LockLoss, _ failure: (any Error)?) -> MigrationError {
        let version = run.context.version
        let ending = failure == nil ? "ran" : "failed"
        let kept: Message =
            run.isProtecting
            ? """
            , and the files it protects were left as they are. The next start puts them back if the state lists them. \
            Don't write to those files before it succeeded.
            """
            : "."
        let error = MigrationError.lockLost(
            loss,
            version,
            file.location,
            code: run.isProtecting ? .protectionFailed : .stateNotSaved,
            consequence: "Migration \(version) \(ending) and that was not recorded\(kept)"
        )
        return if let failure { error.following(failure) } else { error }
    }

    /// The error for an intent whose save failed.
    ///
    /// One that stands all the same is taken back: the app goes on with its files, and the next start would
    /// put the snapshot over what it wrote to them.
    func withdraw(
        _ failure: SaveFailure,
        _ version: AppVersion,
        _ before: MigrationState,
        isProtecting: Bool,
        _ locked: LockedState
    ) -> MigrationError {
        var failure = failure
        if failure.isRenamed {
            do throws(SaveFailure) {
                try locked.save(before)
                failure = SaveFailure(cause: failure.cause, isRenamed: false, leftover: nil)
            } catch {
                if isProtecting {
                    return .protection(error.cause, stateFile, file.location, version, .withdrawing)
                }
            }
        }
        if isProtecting { locked.removeSnapshot(version, options: options) }
        return .notSaved(failure, version, file.location, consequence: "Migration \(version) was not run.")
    }

    /// The error for an intent that stands and must not: `reason`, once it is taken back.
    func withdraw(
        _ reason: MigrationError,
        _ version: AppVersion,
        _ before: MigrationState,
        _ locked: LockedState
    ) -> MigrationError {
        do throws(SaveFailure) {
            try locked.save(before)
        } catch {
            return .protection(error.cause, stateFile, file.location, version, .withdrawing).following(reason)
        }
        locked.removeSnapshot(version, options: options)
        return reason
    }
}

extension LockedState {
    /// What the intent of a dead process protected is put back before anyone can write newer data over
    /// it, and a snapshot without an intent is cleared away.
    func recover(
        _ state: inout MigrationState,
        options: MigrationManager.Options
    ) throws(MigrationError) {
        let version = state.marks.interrupted?.version
        if let interrupted = state.marks.interrupted, !interrupted.protected.isEmpty {
            try restore(interrupted)
            state.marks.interrupted?.release()
            do throws(SaveFailure) {
                try save(state)
            } catch {
                throw .protection(error.cause, location.state, location, version, .noting)
            }
            tell(MigrationEvent(.restored, location.name, version: version), options)
            removeSnapshot(version, options: options)
        } else {
            let isGone = removeSnapshot(version, options: options, synchronizing: true)
            if isGone, state.marks.hasSpentSnapshot { forgetSnapshot(&state, options: options) }
        }
    }

    /// Saves that the snapshot of a recorded migration is gone.
    ///
    /// Nothing depends on this save: the next start tries it again.
    func forgetSnapshot(
        _ state: inout MigrationState,
        options: MigrationManager.Options
    ) {
        let version = state.marks.interrupted?.version
        state.marks.interrupted = nil
        do throws(SaveFailure) {
            try save(state)
        } catch {
            let consequence: Message = "No data is concerned; the next start that takes the lock tries again."
            let error = MigrationError.notSaved(error, version, location, consequence: consequence)
            let event = MigrationEvent(.leftoverNotRemoved, location.name, version: version, error: error)
            tell(event, options)
        }
    }

    /// Puts files back, if the lock is the one at its path.
    func restore(_ interrupted: Interruption) throws(MigrationError) {
        do throws(LockLoss) {
            try confirm()
        } catch {
            throw .protection(error, location.lock, location, interrupted.version, .restoring)
        }
        try FileSnapshot(location).restore(interrupted)
    }

    /// Removes a snapshot that no state refers to; `synchronizing` when that state may stand in memory only.
    ///
    /// Gives whether none is there any more.
    @discardableResult
    func removeSnapshot(
        _ version: AppVersion?,
        options: MigrationManager.Options,
        synchronizing: Bool = false
    ) -> Bool {
        do throws(MigrationError) {
            do throws(LockLoss) {
                try confirm()
            } catch {
                throw .lockLost(
                    error,
                    version,
                    location,
                    consequence: "\(location.snapshot) was not removed."
                )
            }
            try FileSnapshot(location).remove(synchronizing: synchronizing)
            return true
        } catch {
            let event = MigrationEvent(.leftoverNotRemoved, location.name, version: version, error: error)
            tell(event, options)
            return false
        }
    }

    /// Tells the app of something that happened under the lock: a handler that waited for it would wait for itself, and is
    /// refused as nested instead.
    func tell(_ event: MigrationEvent, _ options: MigrationManager.Options) {
        RunToken.telling(event, of: location, lock: identity, options.onEvent)
    }
}
