/// One attempt to run one migration while the lock is held.
///
/// It saves that the migration begins (the intent), runs the closure, and saves that it is done (the record).
/// If the closure threw, it restores the protected files instead.
///
/// The intent is saved before the closure runs, so that the next start knows of a process that died in the
/// closure. The record is saved after the closure has returned and its work is synced to disk, so that no
/// power failure can keep the record and lose the work.
///
/// ``LockedState/state`` has the intent with its checkpoints while the closure runs.
final class MigrationAttempt {
    let context: MigrationContext
    let locked: LockedState
    private let token: RunToken
    private let minimumAppVersion: AppVersion

    /// The state before the attempt.
    ///
    /// Its `launched` version already includes this app.
    private let before: MigrationState

    /// The copies of the protected files.
    ///
    /// They are restored if the record isn't saved. `nil` if the migration protects no files.
    private var snapshot: Snapshot?

    /// How long the closure took; `nil` until it has ended.
    private(set) var duration: Duration?

    /// What the state said about this attempt when it began.
    private var initial: Interruption { context.writer.initial }

    var version: AppVersion { initial.version }
    var location: StateLocation { locked.location }

    init(
        of attempted: AttemptedMigration,
        minimumAppVersion: AppVersion,
        isProtecting: Bool,
        under locked: LockedState
    ) throws(MigrationError) {
        self.locked = locked
        self.minimumAppVersion = minimumAppVersion
        // If the attempt is cancelled, this state is saved again. It must still say that this app was
        // launched.
        let state = try locked.existing()
        before = state.recordingLaunch(of: max(state.versions.launched, attempted.appVersion))
        let initial = Interruption(attempted, isProtecting: isProtecting, at: Platform.now)
        let writer = CheckpointWriter(initial, after: before.versions.lastRun)
        let previous = before.versions.interruption
        context = MigrationContext(
            followsCrash: previous?.version == attempted.version && previous?.closureCrashed == true,
            lock: locked.lock,
            reporter: locked.reporter,
            writer: writer
        )
        token = RunToken(locked.location)
    }

    /// Copies the protected files, if there are any, and saves the intent.
    func begin(protecting paths: [String]) throws(MigrationError) {
        if !paths.isEmpty { try copyFiles(at: paths) }
        context.reachRehearsalPoint(paths.isEmpty ? .beforeInterruption : .afterCopying)
        let begun = before.beginningAttempt(initial, minimumAppVersion: minimumAppVersion)
        if let failure = locked.saveBestEffort(begun) { throw cancel(failure) }
        context.reachRehearsalPoint(.beforeClosure)
        locked.send(event(.started))
    }

    /// Copies the protected files, and syncs the copies to disk.
    ///
    /// Before that, it saves a state which says that copying has begun. So a process that dies while it
    /// copies is counted like one that dies in the closure, and the limit of attempts also ends this crash
    /// loop. That state has no new minimum app version, because the app's data hasn't changed yet.
    private func copyFiles(at paths: [String]) throws(MigrationError) {
        let protected: ProtectedPaths
        do {
            protected = try ProtectedPaths(paths, of: version, in: location)
        } catch {
            throw location.protectionError(.copying, of: version, because: error)
        }
        let copying = Interruption(
            initial.attempt.copying(after: before.versions.attempts(at: version)),
            at: initial.startedAt
        )
        if let failure = locked.saveBestEffort(before.beginningAttempt(copying, minimumAppVersion: .zero)) {
            throw cancel(failure)
        }
        do {
            let snapshot = try Snapshot(of: protected, under: locked.lock)
            self.snapshot = snapshot
            try protected.refuseConflict()
            try snapshot.copy { [self] fraction, note in
                var event = context.event(.progressed)
                event.fraction = fraction
                event.note = note
                event.isCopying = true
                locked.send(event)
            }
        } catch {
            snapshot?.remove()
            let failure = location.protectionError(.copying, of: version, because: error)
            if locked.saveBestEffort(before) == nil { throw failure }
            throw failure.adding(
                "The failure could not be saved either, so the next start counts this attempt as a crash."
            )
        }
    }

    func event(_ kind: MigrationEvent.Kind, error: MigrationError? = nil) -> MigrationEvent {
        var event = context.event(kind)
        event.duration = duration
        event.error = error
        return event
    }
}

// Calling the closure.
extension MigrationAttempt {
    /// Calls the closure.
    ///
    /// - Returns: The error that the closure threw; `nil` if it threw none. This function doesn't throw it,
    ///   because protected files have to be restored first.
    func call(_ body: (MigrationContext) throws -> Void) -> (any Error)? {
        let beginning = willCall()
        defer { didCall(since: beginning) }
        do {
            try RunToken.$current.withValue(token.openTokens) { try body(context) }
            return nil
        } catch {
            return error
        }
    }

    nonisolated(nonsending) func call(
        _ body: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async -> (any Error)? {
        let beginning = willCall()
        defer { didCall(since: beginning) }
        do {
            try await RunToken.$current.withValue(token.openTokens) { try await body(context) }
            return nil
        } catch {
            return error
        }
    }

    private func willCall() -> Duration {
        context.writer.begin(locked)
        return Platform.uptime
    }

    private func didCall(since beginning: Duration) {
        token.end()
        context.writer.end()
        // The clock goes back if a virtual machine is moved to another host.
        duration = max(.zero, Platform.uptime - beginning)
    }
}

// Ending an attempt: recording it, undoing it, cancelling it before the closure runs, or reporting that the
// lock was lost.
extension MigrationAttempt {
    /// Records that the closure returned, or restores the files that it protects if it threw.
    func finish(closureError: (any Error)?) throws(MigrationError) {
        do throws(MigrationError) {
            // Keep the lock on the snapshot's list until `confirmLock()` has returned. Before that, no other
            // process restores the protected files, even if this process has lost the state's lock.
            defer { snapshot?.endListLock() }
            try locked.confirmLock()
        } catch {
            throw lostLockError(error, closureError: closureError)
        }
        if let cause = closureError ?? locked.reporter.rehearsal?.returned(version) {
            throw undo(
                .failed(version, in: location, attempt: context.attempt, because: cause),
                because: cause
            )
        }
        do throws(SystemCallError) {
            // Sync the work before saving the record, so that no power failure can lose the work and keep the
            // record.
            try snapshot?.synchronizeWork()
        } catch {
            let failure = MigrationError.unsynchronized(
                at: error.path ?? location.directory,
                reason: "\(error)",
                in: location,
                of: version,
                because: error
            )
            throw undo(failure, because: failure)
        }
        try record()
    }

    private func record() throws(MigrationError) {
        let row = AppliedMigration(
            initial.attempt,
            after: before.versions.lastRun,
            at: Platform.now,
            in: duration ?? .zero
        )
        let recorded = try locked.existing().recording(row)
        context.reachRehearsalPoint(.beforeRecord)
        if let failure = locked.saveBestEffort(recorded) {
            if locked.isLost { throw lostLockError(failure, closureError: nil) }
            if locked.isUncertain {
                throw failure.adding(
                    "Migration \(version) ran; after a power failure it may run again.",
                    version: version
                )
            }
            let error = failure.adding("Migration \(version) ran and will run again.", version: version)
            throw undo(error, because: error)
        }
        context.reachRehearsalPoint(.afterRecord)
        if snapshot != nil { locked.discardSnapshot(of: version) }
    }

    /// The error to throw if the lock was lost before the closure ended.
    ///
    /// In that case, nothing is recorded or restored. If the closure protects files, the state may still say
    /// that they have to be restored. So the error tells the app not to write to them.
    private func lostLockError(_ loss: MigrationError, closureError: (any Error)?) -> MigrationError {
        let ending: Message = closureError == nil ? "ran, but" : "failed, and that"
        var text: Message = "Migration \(version) \(ending) was not recorded."
        if snapshot != nil {
            text = """
                \(text) The files that it protects were left as they are. The next start restores them if the state asks for it. \
                Don't write to those files before that start has succeeded.
                """
        }
        let cause =
            closureError.map { " The migration itself had failed: " + MigrationError.sentence($0) } ?? ""
        return loss.adding(
            "\(text)\(cause)",
            code: snapshot != nil ? .protectionFailed : .stateNotSaved,
            version: version,
            underlying: closureError
        )
    }

    /// Restores the protected files, and saves in the state that the attempt failed with `cause`.
    ///
    /// - Returns: `failure`, with a sentence about what happened to the files. If restoring failed, that
    ///   error instead.
    private func undo(_ failure: MigrationError, because cause: any Error) -> MigrationError {
        let ended: MigrationState
        do throws(MigrationError) {
            ended = try locked.existing().withFailure(cause)
        } catch {
            return error.following(cause)
        }
        if snapshot == nil {
            if locked.saveBestEffort(ended) == nil { return failure }
            return failure.adding(
                "The failure could not be saved either, so the next start counts this attempt as a crash."
            )
        }
        do throws(MigrationError) {
            try locked.restore(version)
        } catch {
            // The next start restores the files. If this save fails too, the next start counts this attempt
            // as a crash.
            _ = locked.saveBestEffort(ended)
            return error.following(cause)
        }
        do throws(MigrationError) {
            try locked.finishRestore(ended)
            return failure.adding("The protected files are as they were before the migration.")
        } catch {
            return error.following(cause)
        }
    }

    /// Cancels the attempt because an intent could not be saved.
    ///
    /// It may be uncertain whether the intent survives a power failure. Then save the previous state again
    /// before removing the copies. If the intent came back, the next start would restore the copies and
    /// overwrite data that the app has written since.
    ///
    /// - Returns: The error to throw: `failure`, with what became of the attempt.
    private func cancel(_ failure: MigrationError) -> MigrationError {
        snapshot?.endListLock()
        var ending: Message = "Migration \(version) was not run."
        if locked.isUncertain {
            let secondFailure = locked.saveBestEffort(before)
            if let secondFailure, snapshot != nil {
                return location.protectionError(.savingUnchanged, of: version, because: secondFailure)
            }
            if secondFailure == nil {
                ending = "Then the previous state was saved again, and migration \(version) was not run."
            }
            if snapshot != nil { locked.discardSnapshot(of: version) }
        } else if snapshot != nil {
            // Remove the copies first, because they may be what fills the disk. Removing them before the save
            // is safe: the state still says that the copies are incomplete.
            locked.discardSnapshot(of: version)
            if locked.saveBestEffort(before) != nil {
                ending =
                    "Migration \(version) was not run, but the next start counts this attempt as a crash."
            }
        }
        return failure.adding(ending, version: version)
    }
}
