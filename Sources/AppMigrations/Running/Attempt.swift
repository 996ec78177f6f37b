/// One attempt to run one migration: it holds the lock and the state while the closure runs.
///
/// ``Runner`` has the invariants and the states. The closure's ``MigrationContext`` reports and saves its
/// checkpoints here, possibly from several threads and tasks. The app may keep a context for longer than the
/// closure runs. After the end of the closure, a report does nothing, and a checkpoint is refused.
final class Attempt: Sendable {
    /// The migration with all its attempts, including this one, as it is saved before the closure runs.
    ///
    /// It includes the checkpoint that an earlier attempt saved.
    let migration: AttemptedMigration

    let location: StateLocation
    let lock: FileLock
    private let minimumAppVersion: AppVersion
    private let observer: (any ManagerObserver)?
    private let onEvent: (@Sendable (MigrationEvent) -> Void)?
    private let token: RunToken

    /// The copy on which the closure works; `nil` if it works in place.
    let replacement: Replacement?

    /// The state before the attempt, except that this app is already recorded as launched.
    private let before: MigrationState

    private let locked: Guarded<LockedState>
    private let progress = Guarded(Progress())

    private struct Progress {
        /// True while the closure runs.
        var isRunning = false

        /// How long the closure took; `nil` before it has ended.
        var duration: Duration?

        /// The note of the event `finished`, if the closure has set one.
        var finalNote: String?
    }

    var version: AppVersion { migration.version }
    var previousVersion: AppVersion { before.versions.lastRun }
    var isRunning: Bool { progress.withLock { $0.isRunning } }
    var state: MigrationState? { locked.withLock { $0.state } }

    init(
        _ attempted: AttemptedMigration,
        minimumAppVersion: AppVersion,
        replacing replacement: Replacement?,
        of manager: MigrationManager,
        under locked: consuming LockedState
    ) throws(MigrationError) {
        var migration = attempted
        migration.replacing = replacement?.relativePath
        // With a copy, the minimum is set with the record: until then, nothing changes for another version.
        migration.minimumAppVersion =
            replacement == nil || minimumAppVersion == .zero ? nil : minimumAppVersion
        // If the beginning of the attempt may not be durable, `before` is saved again. So it must say that
        // this app was launched.
        before = try locked.existing().changed {
            $0.versions.launched = max($0.versions.launched, attempted.appVersion)
        }
        self.replacement = replacement
        self.migration = migration
        self.minimumAppVersion = minimumAppVersion
        location = manager.location
        observer = manager.observer
        onEvent = manager.options.onEvent
        token = RunToken(location)
        lock = locked.lock
        self.locked = Guarded(locked)
    }

    func releaseLock() { lock.unlock() }
}

// Before the closure.
extension Attempt {
    /// Saves that the attempt has begun, and makes the copy on which the closure works, if there is one.
    func begin() throws(MigrationError) {
        try saveBeginning()
        if let replacement {
            // If this fails, there is nothing to discard: what is at that path isn't this attempt's.
            do throws(MigrationError) { try replacement.makeFolder() } catch {
                throw saveFailure(error, because: error)
            }
            do throws(MigrationError) {
                try replacement.prepare { fraction, note in
                    var event = event(.progressed)
                    event.fraction = fraction
                    event.note = note
                    send(event)
                }
            } catch {
                throw endWithoutReplacing(error, because: error)
            }
        }
        observe(.beforeClosure)
        send(event(.started))
    }

    private func saveBeginning() throws(MigrationError) {
        observe(.beforeAttempt)
        let begun: MigrationState
        do throws(JSONError) {
            begun = try before.changed { state throws(JSONError) in
                // What was there is removed or moved aside, or this declaration would have been refused.
                if state.versions.workingFolder == replacement?.relativeWorkingFolder {
                    state.versions.workingFolder = nil
                }
                try state.begin(
                    LatestAttempt(migration, at: Platform.now),
                    minimumAppVersion: replacement == nil ? minimumAppVersion : .zero
                )
            }
        } catch {
            throw .corrupted(location, because: error)
        }
        switch save(begun) {
        case .saved: break
        case .unchanged(let error), .lockLost(let error):
            throw error.ending(in: .migration(version), version: version)
        case .notDurable(let error):
            // The file says that an attempt has begun. Save the state before it again.
            let isUndone = save(before).error == nil
            throw error.ending(
                in: isUndone
                    ? .text("So the previous state was saved again, and migration \(version) was not run.")
                    : .migration(version),
                version: version
            )
        }
    }

    private func save(_ state: MigrationState) -> LockedState.SaveOutcome {
        locked.withLock { $0.save(state) }
    }

    /// The state with the running attempt and its checkpoints.
    private func current() throws(MigrationError) -> MigrationState {
        try locked.withLock { locked throws(MigrationError) in try locked.existing() }
    }
}

// Calling the closure.
extension Attempt {
    /// Calls the closure.
    ///
    /// - Returns: The error that the closure threw; `nil` if it returned. It is returned and not thrown,
    ///   because the failure has to be saved first.
    func call(_ body: (MigrationContext) throws -> Void) -> (any Error)? {
        let beginning = beginCall()
        defer { endCall(since: beginning) }
        do {
            try RunToken.$current.withValue(token.openTokens) { try body(MigrationContext(attempt: self)) }
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
            try await RunToken.$current.withValue(token.openTokens) {
                try await body(MigrationContext(attempt: self))
            }
            return nil
        } catch {
            return error
        }
    }

    private func beginCall() -> Duration {
        progress.withLock { $0.isRunning = true }
        return Platform.uptime
    }

    private func endCall(since beginning: Duration) {
        token.end()
        // The clock can go back when a virtual machine is moved to another host.
        let duration = max(.zero, Platform.uptime - beginning)
        // Wait for a checkpoint that is being saved.
        locked.withLock { _ in
            progress.withLock { progress in
                progress.isRunning = false
                progress.duration = duration
            }
        }
    }
}

// After the closure: the attempt is recorded, or its failure is saved.
extension Attempt {
    /// The error that a rehearsal throws in place of the closure.
    func rehearsedFailure() -> (any Error)? {
        if case .fail(let error)? = observe(.returned) { return error }
        return nil
    }

    /// Puts the copy in the place of the original, if there is one, and records that the migration has run.
    func record(alsoIn otherRecord: OtherRecord?) throws(MigrationError) {
        if let replacement { try commit(replacement) }
        try saveRecord()
        if let otherRecord { RunToken.withToken(of: location) { otherRecord.didRecord(version) } }
        // If the lock is lost, another process may have a working folder at the same path.
        if let replacement, lossOfLock == nil {
            removeWorkingFolder(of: replacement)
            // If this save fails, the next start finds nothing to remove, and saves again.
            if let state { _ = save(state.changed { $0.versions.workingFolder = nil }) }
        }
        observe(.afterRecord)
    }

    private func commit(_ replacement: Replacement) throws(MigrationError) {
        do throws(MigrationError) { try replacement.synchronizeCopy(by: lock.flush) } catch {
            throw endWithoutReplacing(error, because: error)
        }
        // After the sync, because that of a large copy takes minutes.
        if let loss = lossOfLock { throw notRecorded(loss, closureError: nil) }
        let outcome = replacement.commit { found in
            var event = event(.filesFound)
            event.note = found
            send(event)
        }
        switch outcome {
        case .replaced: return
        case .unchanged(let error): throw endWithoutReplacing(error, because: error)
        // No failure is saved, so the next start settles it.
        case .unsettled(let error): throw error
        }
    }

    /// The error if another process may be using the state and the working folder.
    private var lossOfLock: MigrationError? { locked.withLock { $0.lossOfLock() } }

    private func saveRecord() throws(MigrationError) {
        let row = AppliedMigration(
            migration,
            after: previousVersion,
            at: Platform.now,
            in: progress.withLock { $0.duration } ?? .zero
        )
        let recorded = try current().changed {
            if let replacement {
                $0.versions.raiseMinimumAppVersion(to: minimumAppVersion)
                $0.versions.workingFolder = replacement.relativeWorkingFolder
            }
            $0.record(row)
        }
        observe(.beforeRecord)
        switch save(recorded) {
        case .saved: return
        case .unchanged(let error) where replacement != nil:
            // The next start finds that the original was replaced, and records the migration.
            let outcome: Message =
                "Migration \(version) ran, and is not recorded yet. The next start records it."
            throw error.ending(in: .text(outcome), version: version)
        case .lockLost(let error): throw notRecorded(error, closureError: nil)
        case .notDurable(let error) where replacement != nil:
            let outcome: Message =
                "Migration \(version) ran; after a power failure the next start records it again."
            throw error.ending(in: .text(outcome), version: version)
        case .notDurable(let error):
            let outcome: Message = "Migration \(version) ran; after a power failure it may run again."
            throw error.ending(in: .text(outcome), version: version)
        case .unchanged(let error):
            let outcome: Message = "Migration \(version) ran and will run again."
            throw saveFailure(error.ending(in: .text(outcome), version: version), because: error)
        }
    }

    /// Saves in the state that the closure failed with `cause`.
    ///
    /// - Returns: The error to throw.
    func fail(_ cause: any Error) -> MigrationError {
        let failure = MigrationError.failed(
            version,
            in: location,
            attempt: migration.attemptCount,
            because: cause
        )
        return endWithoutReplacing(failure, because: cause)
    }

    /// Removes the working folder, if there is one, and saves the failure of the attempt.
    private func endWithoutReplacing(
        _ failure: MigrationError,
        because cause: any Error
    ) -> MigrationError {
        if let replacement, lossOfLock == nil { removeWorkingFolder(of: replacement) }
        return saveFailure(failure, because: cause)
    }

    private func removeWorkingFolder(of replacement: Replacement) {
        guard let error = replacement.discard() else { return }
        send(event(.leftoverNotRemoved, error: error))
    }

    /// - Returns: `failure`, with what it means if it can't be saved.
    private func saveFailure(_ failure: MigrationError, because cause: any Error) -> MigrationError {
        let failed: MigrationState
        do throws(MigrationError) {
            failed = try current().changed { $0.fail(cause) }
        } catch {
            return error
        }
        switch save(failed) {
        case .saved, .notDurable: return failure
        case .lockLost(let error): return notRecorded(error, closureError: cause)
        case .unchanged:
            let outcome: Message =
                "The failed attempt could not be recorded in the state, so the next start counts it as a crash."
            return failure.ending(in: .text(outcome))
        }
    }

    /// Makes the error to throw if the lock was lost before the closure ended, so that nothing was recorded.
    private func notRecorded(_ loss: MigrationError, closureError: (any Error)?) -> MigrationError {
        let ending: Message = closureError == nil ? "ran, but" : "failed, and its failure"
        let cause = closureError.map { " The error of the migration: " + MigrationError.sentence($0) } ?? ""
        return loss.ending(
            in: .text("Migration \(version) \(ending) was not recorded.\(cause)"),
            version: version,
            underlying: closureError
        )
    }
}

// What the closure's context does.
extension Attempt {
    /// Saves a checkpoint.
    func saveCheckpoint(_ text: String, progress fraction: Double?) throws(MigrationError) {
        if replacement != nil { throw location.checkpointOfReplacement(of: version) }
        let size = text.utf8.count
        if size > Checkpoint.sizeLimit { throw location.checkpointTooLong(size, of: version) }
        observe(.beforeCheckpoint)
        let outcome = try locked.withLock { locked throws(MigrationError) in
            if !isRunning { throw location.checkpointAfterEnd(of: version) }
            let next = try locked.existing().changed {
                $0.saveCheckpoint(text, progress: fraction, comparedWith: migration)
            }
            return locked.save(next)
        }
        switch outcome {
        case .saved: observe(.afterCheckpoint)
        case .notDurable(let error):
            let consequence: Message = """
                The next attempt of migration \(version) continues from the new checkpoint. After a power failure it may continue \
                from the previous checkpoint.
                """
            throw error.ending(in: .text(consequence), code: .checkpointNotSaved, version: version)
        case .unchanged(let error), .lockLost(let error):
            let consequence: Message =
                "The next attempt of migration \(version) continues from the last saved checkpoint."
            throw error.ending(in: .text(consequence), code: .checkpointNotSaved, version: version)
        }
    }

    func setFinalNote(_ note: String) { progress.withLock { $0.finalNote = note } }

    /// Makes an event about this attempt, before, while or after the closure runs.
    func event(_ kind: MigrationEvent.Kind, error: MigrationError? = nil) -> MigrationEvent {
        var event = MigrationEvent(kind, managerName: location.name, version: version)
        event.previousVersion = previousVersion
        event.attempt = migration.attemptCount
        event.error = error
        let progress = progress.withLock { $0 }
        event.duration = progress.duration
        if kind == .finished { event.note = progress.finalNote }
        return event
    }

    func send(_ event: MigrationEvent) { location.send(event, to: onEvent) }

    /// In a rehearsal (a test that simulates crashes), reports that this point has been reached.
    ///
    /// - Returns: What the rehearsal makes of it; `nil` if there is no rehearsal.
    @discardableResult
    func observe(_ place: ObservedMoment.Place) -> ObserverAnswer? {
        observer?.observe(
            ObservedMoment(place: place, version: version, replacing: replacement?.folder.place)
        )
    }
}
