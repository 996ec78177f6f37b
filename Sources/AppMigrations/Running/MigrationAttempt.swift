/// One attempt to run one migration while the lock is held: this file has the order of the writes.
///
/// 1. If the migration protects files: save in the state that copying has begun, then copy the files and sync
///    the copies to disk.
/// 2. Save the interruption in the state. If the process crashes in the closure, the next start finds it.
/// 3. Call the closure.
/// 4. If the closure threw: restore the protected files, save the failure, and then remove the copies.
/// 5. If it returned: sync the protected files to disk, record the migration in the state, and then remove
///    the copies. In this order, because a power failure must not lose the work and keep the record.
///
/// ``LockedState/state`` contains the interruption and its checkpoints while the closure runs.
final class MigrationAttempt {
    let context: MigrationContext
    let locked: LockedState
    private let token: RunToken
    private let minimumAppVersion: AppVersion

    /// The state before the attempt, except that this app is already recorded as launched.
    private let before: MigrationState

    /// The copies of the protected files; `nil` if the migration protects no files.
    ///
    /// The files are restored from them if the closure throws or the migration can't be recorded.
    private var snapshot: Snapshot?

    /// How long the closure took; `nil` before it has ended.
    private(set) var duration: Duration?

    /// What the state says about this attempt before the closure runs.
    private var initialInterruption: Interruption { context.writer.initialInterruption }

    var version: AppVersion { initialInterruption.version }
    var location: StateLocation { locked.location }

    init(
        of attempted: AttemptedMigration,
        minimumAppVersion: AppVersion,
        isProtecting: Bool,
        under locked: LockedState
    ) throws(MigrationError) {
        self.locked = locked
        self.minimumAppVersion = minimumAppVersion
        // If the attempt is cancelled, `before` is saved again. So it must say that this app was launched.
        let state = try locked.existing()
        before = state.recordingLaunch(of: max(state.versions.launched, attempted.appVersion))
        let interruption = Interruption(attempted, isProtecting: isProtecting, at: Platform.now)
        let writer = CheckpointWriter(interruption, after: before.versions.lastRun)
        context = MigrationContext(lock: locked.lock, reporter: locked.reporter, writer: writer)
        token = RunToken(locked.location)
    }

    /// Copies the protected files, if there are any, and saves that the attempt has begun.
    ///
    /// If `keepsReplaced` is true, a restore after a crash keeps the files that it replaces.
    func begin(
        protecting paths: [String],
        keepingReplaced keepsReplaced: Bool
    ) throws(MigrationError) {
        if !paths.isEmpty { try copyFiles(at: paths, keepingReplaced: keepsReplaced) }
        context.reachRehearsalPoint(paths.isEmpty ? .beforeInterruption : .afterCopying)
        let begun = before.beginningAttempt(initialInterruption, minimumAppVersion: minimumAppVersion)
        if let failure = locked.saveBestEffort(begun) { throw cancel(failure) }
        context.reachRehearsalPoint(.beforeClosure)
        locked.send(event(.started))
    }

    /// Copies the protected files, and syncs the copies to disk.
    ///
    /// Before that, it saves in the state that copying has begun. So a crash during the copy counts like a
    /// crash in the closure. If every start crashes during the copy, the limit of attempts ends that. This
    /// first save sets no new minimum app version, because the app's data hasn't changed yet.
    private func copyFiles(
        at paths: [String],
        keepingReplaced keepsReplaced: Bool
    ) throws(MigrationError) {
        let protected: ProtectedPaths
        do {
            protected = try ProtectedPaths(paths, of: version, in: location)
        } catch {
            throw location.protectionError(.copying, of: version, because: error)
        }
        let copying = Interruption(
            initialInterruption.attempt.markedAsCopying(after: before.versions.attempts(at: version)),
            at: initialInterruption.startedAt
        )
        if let failure = locked.saveBestEffort(before.beginningAttempt(copying, minimumAppVersion: .zero)) {
            throw cancel(failure)
        }
        do {
            try locked.makeRoomForSnapshot(of: version)
            let snapshot = try Snapshot(
                of: protected,
                under: locked.lock,
                keepingReplaced: keepsReplaced
            )
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
            throw failure.adding(Self.notRecorded)
        }
    }

    private static var notRecorded: Message {
        "The failed attempt could not be recorded in the state, so the next start counts it as a crash."
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
    /// - Returns: The error that the closure threw; `nil` if it threw none. This function returns the error
    ///   and doesn't throw it, because the caller has to restore the protected files first.
    func call(_ body: (MigrationContext) throws -> Void) -> (any Error)? {
        let beginning = beginCall()
        defer { endCall(since: beginning) }
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
        let beginning = beginCall()
        defer { endCall(since: beginning) }
        do {
            try await RunToken.$current.withValue(token.openTokens) { try await body(context) }
            return nil
        } catch {
            return error
        }
    }

    /// Allows checkpoints, and returns the time.
    private func beginCall() -> Duration {
        context.writer.begin(locked)
        return Platform.uptime
    }

    private func endCall(since beginning: Duration) {
        token.end()
        context.writer.end()
        // The clock can go back when a virtual machine is moved to another host.
        duration = max(.zero, Platform.uptime - beginning)
    }
}

// The four ends of an attempt: it is recorded, it is undone because the closure threw, it is cancelled before
// the closure runs, or the lock is lost.
extension MigrationAttempt {
    /// Records the migration if the closure returned, or restores the protected files if it threw.
    func finish(closureError: (any Error)?) throws(MigrationError) {
        do throws(MigrationError) {
            // Keep the lock on the list of protected files until `confirmLock()` has returned. While that
            // list is locked, no other process restores the files, even if this process has lost the state's
            // lock.
            defer { snapshot?.releaseListLock() }
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
            // Sync the work before the record is saved, so that a power failure can't lose the work and keep
            // the record.
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
            initialInterruption.attempt,
            after: before.versions.lastRun,
            at: Platform.now,
            in: duration ?? .zero
        )
        let recorded = try locked.existing().recording(row)
        context.reachRehearsalPoint(.beforeRecord)
        if let failure = locked.saveBestEffort(recorded) {
            if locked.isLost { throw lostLockError(failure, closureError: nil) }
            if locked.mayNotSurvivePowerFailure {
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

    /// Makes the error to throw if the lock was lost before the closure ended.
    ///
    /// In that case, nothing is recorded or restored. If the migration protects files, the state may still
    /// say that they have to be restored. So the error tells the app not to write to them.
    private func lostLockError(_ loss: MigrationError, closureError: (any Error)?) -> MigrationError {
        let ending: Message = closureError == nil ? "ran, but" : "failed, and its failure"
        var text: Message = "Migration \(version) \(ending) was not recorded."
        if snapshot != nil {
            text = """
                \(text) The files that it protects were left as they are. If the state still says that they have to be restored, \
                the next start restores them. Don't write to those files before that start has succeeded.
                """
        }
        let cause = closureError.map { " The error of the migration: " + MigrationError.sentence($0) } ?? ""
        return loss.adding(
            "\(text)\(cause)",
            code: snapshot != nil ? .protectionFailed : .stateNotSaved,
            version: version,
            underlying: closureError
        )
    }

    /// Restores the protected files, and saves in the state that the attempt failed with `cause`.
    ///
    /// - Returns: `failure`, with a sentence about what happened to the files. If the restore failed, its
    ///   error is returned instead.
    private func undo(_ failure: MigrationError, because cause: any Error) -> MigrationError {
        let ended: MigrationState
        do throws(MigrationError) {
            ended = try locked.existing().withFailure(cause)
        } catch {
            return error.afterFailure(cause)
        }
        if snapshot == nil {
            if locked.saveBestEffort(ended) == nil { return failure }
            return failure.adding(Self.notRecorded)
        }
        do throws(MigrationError) {
            try locked.restore(version)
        } catch {
            // The next start restores the files. If this save of the failure fails too, the next start counts
            // this attempt as a crash.
            _ = locked.saveBestEffort(ended)
            return error.afterFailure(cause)
        }
        do throws(MigrationError) {
            try locked.finishRestore(ended)
            return failure.adding("The protected files are as they were before the migration.")
        } catch {
            return error.afterFailure(cause)
        }
    }

    /// Cancels the attempt because the save before the closure failed.
    ///
    /// The interruption may have been written, but may not survive a power failure. In that case, this
    /// function saves the previous state again, and only then removes the copies. Otherwise the next start
    /// might find the interruption, restore the copies, and overwrite data that the app has written since.
    ///
    /// - Returns: The error to throw: `failure`, with a sentence that says what happened to the attempt.
    private func cancel(_ failure: MigrationError) -> MigrationError {
        snapshot?.releaseListLock()
        var ending: Message = "Migration \(version) was not run."
        if locked.mayNotSurvivePowerFailure {
            let secondFailure = locked.saveBestEffort(before)
            if let secondFailure, snapshot != nil {
                return location.protectionError(.savingUnchanged, of: version, because: secondFailure)
            }
            if secondFailure == nil {
                ending = "So the previous state was saved again, and migration \(version) was not run."
            }
            if snapshot != nil { locked.discardSnapshot(of: version) }
        } else if snapshot != nil {
            // Remove the copies first, because the disk may be full and they take up space. That is safe
            // before the save: the state in the file still says that the copies are incomplete, so no start
            // uses them.
            locked.discardSnapshot(of: version)
            if locked.saveBestEffort(before) != nil {
                ending =
                    "Migration \(version) was not run, but the next start counts this attempt as a crash."
            }
        }
        return failure.adding(ending, version: version)
    }
}
