/// One attempt at one migration under the lock: the intent, the closure, then the record or the undoing.
///
/// The intent is saved before the closure runs, so that a death in the closure is known to the next start. The record is saved
/// after the closure returned and its work is synced to disk, so that nothing is recorded that a power cut could take.
final class MigrationAttempt {
    let context: MigrationContext
    let locked: LockedState
    private let token: RunToken

    /// The state before the attempt, with the launch of this app, and the state with the intent.
    let before: MigrationState
    private(set) var intent: MigrationState

    /// The files that are put back unless the record is saved; `nil` if the closure protects none.
    private var files: Snapshot?

    private(set) var duration: Duration?

    var version: AppVersion { context.writer.began.version }
    var location: StateLocation { locked.location }

    init(
        of known: AttemptedMigration,
        minimumAppVersion: AppVersion,
        isProtecting: Bool,
        under locked: LockedState
    ) throws(MigrationError) {
        self.locked = locked
        // The intent also says that this app was launched. That stays true if the attempt is cancelled and this state saved again.
        let state = try locked.existing()
        before = state.launched(by: max(state.marks.launched, known.appVersion))
        let began = Interruption(known, isProtecting: isProtecting, at: Platform.now)
        intent = before.withIntent(began, minimumAppVersion: minimumAppVersion)
        let writer = CheckpointWriter(began, after: before.marks.lastRun)
        context = MigrationContext(lock: locked.lock, reporter: locked.reporter, writer: writer)
        token = RunToken(locked.location)
    }

    /// Copies the protected files, if there are any, and saves the intent.
    func begin(protecting paths: [String]) throws(MigrationError) {
        if !paths.isEmpty { try protect(paths) }
        context.reach(paths.isEmpty ? .beforeIntent : .afterCopying)
        if let failure = locked.note(intent) { throw cancel(failure) }
        context.reach(.beforeClosure)
        locked.send(event(.started))
    }

    /// Copies files durably, after it has saved that an attempt is copying: a process that dies in it is counted like one that dies in
    /// the closure, so the limit of attempts ends that loop too.
    ///
    /// That first save has no minimum app version, since nothing of the data is changed yet.
    private func protect(_ paths: [String]) throws(MigrationError) {
        let protected: ProtectedPaths
        do {
            protected = try ProtectedPaths(paths, of: version, in: location)
        } catch {
            throw location.protectionError(.copying, of: version, because: error)
        }
        let began = context.writer.began
        let copying = began.attempt.copying(after: before.marks.attempts(at: version))
        let attempt = Interruption(copying, at: began.startedAt)
        if let failure = locked.note(before.withIntent(attempt, minimumAppVersion: .zero)) {
            throw cancel(failure)
        }
        do {
            let files = try Snapshot(of: protected, under: locked.lock)
            self.files = files
            try protected.refuseConflict()
            try files.copy { [self] done, note in
                var event = context.event(.progressed)
                event.fraction = done
                event.note = note
                event.isCopying = true
                locked.send(event)
            }
        } catch {
            files?.remove()
            let failure = location.protectionError(.copying, of: version, because: error)
            if locked.note(before) == nil { throw failure }
            throw failure.adding("The failure could not be saved either, so the attempt counts as a death.")
        }
    }

    /// Calls the closure.
    ///
    /// Returns its error instead of throwing it, because what the closure did has to be undone first.
    func call(_ body: (MigrationContext) throws -> Void) -> (any Error)? {
        let began = begun()
        defer { ended(since: began) }
        do {
            try RunToken.$current.withValue(token.opened) { try body(context) }
            return nil
        } catch {
            return error
        }
    }

    nonisolated(nonsending) func call(
        _ body: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async -> (any Error)? {
        let began = begun()
        defer { ended(since: began) }
        do {
            try await RunToken.$current.withValue(token.opened) { try await body(context) }
            return nil
        } catch {
            return error
        }
    }

    private func begun() -> Duration {
        context.writer.begin(intent, locked)
        return Platform.uptime
    }

    private func ended(since began: Duration) {
        token.end()
        intent = context.writer.end() ?? intent
        // The clock goes back where a machine was moved to another host.
        duration = max(.zero, Platform.uptime - began)
    }

    func event(_ kind: MigrationEvent.Kind, _ error: MigrationError? = nil) -> MigrationEvent {
        var event = context.event(kind)
        (event.duration, event.error) = (duration, error)
        return event
    }
}

/// How an attempt ends: recorded, undone, cancelled before its closure began, or without its lock.
extension MigrationAttempt {
    /// Records that the closure returned, or undoes what it did before it threw.
    func finish(_ failure: (any Error)?) throws(MigrationError) {
        do throws(MigrationError) {
            // The list's lock keeps other processes away until the state's is certain.
            defer { files?.endListLock() }
            try locked.confirm()
        } catch {
            throw lost(error, failure)
        }
        if let failure = failure ?? locked.reporter.rehearsal?.returned(version) {
            throw undo(.failed(version, attempt: context.attempt, failure, location), because: failure)
        }
        do throws(SystemCallError) {
            // The record may not be more durable than the work.
            try files?.synchronizeWork()
        } catch {
            let path = error.path ?? location.directory
            let lost = MigrationError.unsynchronized(
                at: path,
                reason: "\(error)",
                in: location,
                of: version,
                because: error
            )
            throw undo(lost, because: lost)
        }
        try record()
    }

    func record() throws(MigrationError) {
        let (known, taken) = (context.writer.began.attempt, duration ?? .zero)
        let row = AppliedMigration(known, after: before.marks.lastRun, at: Platform.now, in: taken)
        let recorded = intent.recording(row)
        context.reach(.beforeRecord)
        if let failure = locked.note(recorded) {
            if locked.isLost { throw lost(failure, nil) }
            if locked.isUncertain {
                throw failure.adding(
                    "Migration \(version) ran; after a power failure it may run again.",
                    version: version
                )
            }
            let undone = failure.adding("Migration \(version) ran and will run again.", version: version)
            throw undo(undone, because: undone)
        }
        context.reach(.afterRecord)
        if files != nil { locked.discardSnapshot(version) }
    }

    /// The error of a closure that ended without its lock: nothing of it is recorded or put back.
    ///
    /// Where the closure protects files, the state may list them, so the error is one that forbids writing to them.
    private func lost(_ loss: MigrationError, _ failure: (any Error)?) -> MigrationError {
        let ending: Message = failure == nil ? "ran, but" : "failed, and that"
        var text: Message = "Migration \(version) \(ending) was not recorded."
        if files != nil {
            text = """
                \(text) The files that it protects were left as they are. The next start puts them back if the state lists them. \
                Don't write to those files before that start has succeeded.
                """
        }
        let cause = failure.map { " The migration itself had failed: " + MigrationError.sentence($0) } ?? ""
        return loss.adding(
            "\(text)\(cause)",
            code: files != nil ? .protectionFailed : .stateNotSaved,
            version: version,
            underlying: failure
        )
    }

    /// The error of an attempt that ended so, once the protected files are put back and it is saved how it ended.
    private func undo(_ failure: MigrationError, because cause: any Error) -> MigrationError {
        let ended = intent.withFailure(cause)
        if files == nil {
            if locked.note(ended) == nil { return failure }
            return failure.adding("The failure could not be saved either, so the attempt counts as a death.")
        }
        do throws(MigrationError) {
            try locked.restore(version)
        } catch {
            _ = locked.note(ended)
            return error.following(cause)
        }
        do throws(MigrationError) {
            try locked.finishRestore(ended)
            return failure.adding("The protected files are as they were before the migration.")
        } catch {
            return error.following(cause)
        }
    }

    /// The error for an intent whose save failed, once the attempt is cancelled.
    ///
    /// If it is uncertain which state a power failure leaves, the copies stay until the state before is saved: the app goes on with its
    /// files, and a start with that intent would put the copies over what the app wrote.
    private func cancel(_ failure: MigrationError) -> MigrationError {
        files?.endListLock()
        let end: Message
        if locked.isUncertain {
            let second = locked.note(before)
            if let second, files != nil {
                return location.protectionError(.savingRestored, of: version, because: second)
            }
            end =
                second == nil
                ? "Then the previous state was saved again, and migration \(version) was not run."
                : "Migration \(version) was not run."
            if files != nil { locked.discardSnapshot(version) }
        } else if files != nil {
            // First the copies, which may be what fills the disk: the state says that they are being made.
            locked.discardSnapshot(version)
            let isNoted = locked.note(before) == nil
            end =
                isNoted
                ? "Migration \(version) was not run."
                : "Migration \(version) was not run, but the attempt counts as a death."
        } else {
            end = "Migration \(version) was not run."
        }
        return failure.adding(end, version: version)
    }
}
