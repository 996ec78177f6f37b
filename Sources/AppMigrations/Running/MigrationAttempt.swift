/// One attempt at one migration under the lock: the intent, the closure, then the record or the undoing.
///
/// The intent is saved before the closure runs, so that a death in the closure is known to the next start. The record is saved
/// after the closure returned and its work is synced to disk, so that nothing is recorded that a power cut could take.
final class MigrationAttempt {
    let context: MigrationContext
    let locked: LockedState
    private let token: RunToken

    /// The files that are put back unless the record is saved; `nil` where the closure protects none.
    let files: Snapshot?

    /// The state without the intent, and with it.
    let before: MigrationState
    private(set) var intent: MigrationState

    private(set) var duration: Duration?

    var version: AppVersion { context.writer.began.version }
    var location: StateLocation { locked.location }

    init(
        _ known: AttemptedMigration,
        _ minimumAppVersion: AppVersion,
        protecting paths: [String],
        _ locked: LockedState
    ) throws(MigrationError) {
        self.locked = locked
        before = try locked.existing()
        do {
            files = paths.isEmpty ? nil : try Snapshot(of: paths, known.version, locked.location, locked.lock)
        } catch {
            throw locked.location.protection(.taking, known.version, error)
        }
        let began = Interruption(known, isProtecting: files != nil, at: Platform.now)
        intent = before.beginning(began, minimumAppVersion: minimumAppVersion)
        let writer = CheckpointWriter(began, after: before.marks.lastRun)
        context = MigrationContext(lock: locked.lock, reporter: locked.reporter, writer: writer)
        token = RunToken(locked.location)
    }

    /// Another manager that protects the same files and may be waited for; `nil` where nobody does, and ``begin()`` comes next.
    ///
    /// To wait for it, list and lock are given back: its closure may use a manager of this very state.
    func rival(isAsynchronous: Bool) throws(MigrationError) -> ProtectedPaths.Rival? {
        guard let files else { return nil }
        let found = Result { () throws(MigrationError) in
            try files.protected.rival(isAsynchronous: isAsynchronous)
        }
        if case .success(nil) = found { return nil }
        files.takeBack()
        locked.lock.unlock()
        return try found.get()
    }

    func begin() throws(MigrationError) {
        do {
            try files?.fill { [self] done, note in
                var event = context.event(.progressed)
                (event.fraction, event.note, event.isCopying) = (done, note, true)
                locked.send(event)
            }
        } catch {
            files?.takeBack()
            throw location.protection(.taking, version, error)
        }
        context.reach(files == nil ? .beforeIntent : .afterCopying)
        if let failure = locked.note(intent) { throw withdraw(failure) }
        context.reach(.beforeClosure)
        locked.send(event(.started))
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

/// How an attempt ends: recorded, undone, taken back before its closure began, or without its lock.
extension MigrationAttempt {
    /// Records that the closure returned, or undoes what it did before it threw.
    func finish(_ failure: (any Error)?) throws(MigrationError) {
        do throws(MigrationError) {
            // The list's lock keeps other processes away until the state's is certain.
            defer { files?.endClaim() }
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
            let lost = MigrationError.unsynchronized(path, "\(error)", location, version, because: error)
            throw undo(lost, because: lost)
        }
        try record()
    }

    func record() throws(MigrationError) {
        let (known, taken) = (context.writer.began.known, duration ?? .zero)
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
        let ending: Message = failure == nil ? "ran" : "failed"
        var text: Message = "Migration \(version) \(ending) and that was not recorded"
        if files != nil {
            text = """
                \(text), and the files it protects were left as they are. The next start puts them back if the state lists them. \
                Don't write to those files before it succeeded
                """
        }
        let cause = failure.map { " The migration itself had failed: " + MigrationError.sentence($0) } ?? ""
        return location.error(
            files != nil ? .protectionFailed : .stateNotSaved,
            version,
            at: loss.path,
            because: failure ?? loss.underlyingError,
            "\(loss.description) \(text).\(cause)"
        )
    }

    /// The error of an attempt that ended so, once the protected files are put back and it is saved how it ended.
    private func undo(_ failure: MigrationError, because cause: any Error) -> MigrationError {
        let ended = intent.failing(cause)
        if files == nil {
            if locked.note(ended) == nil { return failure }
            return failure.adding("The attempt could not be noted either and counts as a death.")
        }
        do throws(MigrationError) {
            try locked.restore(version)
        } catch {
            _ = locked.note(ended)
            return error.following(cause)
        }
        do throws(MigrationError) {
            try locked.finishRestore(ended)
            return failure.adding("The protected files are what they were before it.")
        } catch {
            return error.following(cause)
        }
    }

    /// The error for an intent whose save failed.
    ///
    /// The intent may stand all the same. Then it is taken back: nothing was run, the app goes on with its files, and the next
    /// start would put the copies over what the app wrote.
    func withdraw(_ failure: MigrationError) -> MigrationError {
        files?.endClaim()
        var end: Message = "Migration \(version) was not run."
        if locked.isUncertain {
            let second = locked.note(before)
            if let second, files != nil { return location.protection(.noting, version, second) }
            if second == nil { end = "It was taken back: migration \(version) was not run." }
        }
        if files != nil { locked.discardSnapshot(version) }
        return failure.adding(end, version: version)
    }
}
