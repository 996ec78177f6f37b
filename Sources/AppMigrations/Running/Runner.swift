/// Runs one declaration while it holds the lock.
///
/// These invariants hold for every declaration:
///
/// 1. The state is read again after the lock was taken, and the decision is made again. (Another process may
///    have run the migration since the manager read its state.)
/// 2. If a process died while it was replacing a file or a folder, its work is finished before anything else.
///    (Otherwise the data could be missing from its place when the decision is made.)
/// 3. An attempt is saved before its closure is called, and with it the minimum app version. (The next start
///    must see a crash in the closure; an older app must learn that the data changes before it changes; and
///    the save proves that the disk takes writes before anything runs. With `replacing:`, nothing changes
///    before the record, so the minimum is saved with that.)
/// 4. A version is recorded after its closure returned, in the one save that also ends the attempt. (So a
///    death between the two lets it run again. If there is a reason not to run it, or it joins the baseline
///    of a fresh install, no closure is called.)
/// 5. With `replacing:`, the copy is synced to disk, then takes the place of the original, and then the
///    version is recorded. (So after a death, the names in the working folder show how far it came. A closure
///    that works in place syncs its own work.)
/// 6. Nothing is saved, replaced or removed by a process whose lock file isn't at its path any more. (Another
///    process may hold a lock on the file that took its place. ``LockedState/save(_:)`` looks just before it
///    writes.)
/// 7. A migration counts as done only if that is certain. (So it may run twice, but is never skipped.)
/// 8. An error closes the manager, whatever its cause. (No later migration may run without this one.)
/// 9. While the lock is held, three pieces of the app's code are called: the closure, the ``OtherRecord`` and
///    the event handler. Each runs with a ``RunToken``. (If one of them declares a migration of the same
///    state, the token shows that the declaration would wait for itself, and it is refused. The events
///    `waiting` and `failed` are sent without the lock.)
///
/// The states of a declaration, what is true in each, and the function that leads to the next:
///
///     state       what is true                                         left by
///     ---------   --------------------------------------------------   -----------------------------------
///     waiting     nothing is saved, the lock isn't held                step(), decideAndBegin(under:)
///     decided     the lock is held; the state was read under it; the   begin(_:in:under:); if nothing has to
///                 left-overs of a dead process are settled             run, the declaration ends here
///     begun       the attempt is saved, the copy is made, if there is  Attempt.call(_:)
///                 one; from here on, a crash counts
///     returned    the closure returned or threw; the version is        Attempt.record(alsoIn:), or
///                 pending, a crash lets it run again                   Attempt.fail(_:)
///     committed   the copy is in the place of the original; a crash    Attempt.saveRecord()
///                 lets the next start record it
///     recorded    the version counts as run                            finish(_:closureError:)
///     failed      the failure is saved, the version is pending, and    fail(_:)
///                 the original is as it was, if there was a copy; if
///                 that isn't certain, no failure is saved, and the
///                 next start settles it
struct Runner: ~Copyable {
    private let declared: DeclaredMigration
    private let replacing: String?
    private let otherRecord: OtherRecord?
    private let manager: MigrationManager
    private var wait: FileLock.Wait

    /// The attempt whose closure has to be called; `nil` before the lock is taken, and if nothing has to run.
    private var attempt: Attempt?

    private var location: StateLocation { manager.location }

    init(
        _ declared: DeclaredMigration,
        from declaration: Declaration,
        of manager: MigrationManager,
        blocksThread: Bool
    ) {
        self.declared = declared
        replacing = declaration.replacing
        otherRecord = declaration.otherRecord
        self.manager = manager
        wait = FileLock.Wait(
            at: manager.location,
            options: manager.options,
            version: declared.version,
            blocksThread: blocksThread
        )
    }

    deinit { manager.declarations.withLock { $0.endDeclaration() } }

    /// Runs the declaration on this thread.
    ///
    /// - Returns: False if the closure no longer has to run.
    mutating func run(_ body: (MigrationContext) throws -> Void) throws(MigrationError) -> Bool {
        do throws(MigrationError) {
            while let pause = try step() { Platform.pause(pause) }
            guard let attempt else { return false }
            try finish(attempt, closureError: attempt.call(body))
            return true
        } catch {
            throw fail(error)
        }
    }

    /// Runs the declaration on the caller's actor; suspends the task while it waits.
    nonisolated(nonsending) mutating func run(
        _ body: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        do throws(MigrationError) {
            while let pause = try step() { await Platform.suspend(pause) }
            guard let attempt else { return false }
            try finish(attempt, closureError: await attempt.call(body))
            return true
        } catch {
            throw fail(error)
        }
    }
}

// From waiting to begun.
extension Runner {
    /// Tries to take the lock, and if it has the lock, decides whether to begin an ``attempt``.
    ///
    /// - Returns: How long to wait before the next step; `nil` if the lock was taken, so that no step is
    ///   left.
    private mutating func step() throws(MigrationError) -> Duration? {
        guard let lock = try wait.step() else { return wait.pause }
        var locked = try LockedState(lock, at: location)
        try locked.settleReplacements(sendingTo: manager.options.onEvent)
        try decideAndBegin(under: consume locked)
        return nil
    }

    /// Decides whether the migration has to run, and begins an attempt if so.
    ///
    /// The decision is made from the state that was read under the lock.
    private mutating func decideAndBegin(under locked: consuming LockedState) throws(MigrationError) {
        let state = try locked.existing()
        let applied = declared.addedIn == nil ? nil : try state.appliedVersions(at: location)
        if let event = try recordWithoutRunning(in: state, applied: applied, under: &locked) {
            Self.update(manager, from: locked)
            location.send(event, to: manager.options.onEvent)
            return
        }
        let decision = try decide(in: state, applied: applied, attemptLimit: manager.options.attemptLimit)
        if case .run(let attempted) = decision {
            let folder = try replacing.map { path throws(MigrationError) in
                try Replacement.workingFolder(of: path, version: declared.version, in: location)
            }
            if let folder,
                try locked.settle(
                    folder,
                    before: attempted,
                    minimumAppVersion: declared.minimumAppVersion,
                    sendingTo: manager.options.onEvent
                )
            {
                // A migration was recorded, which may be this one.
                return try decideAndBegin(under: consume locked)
            }
            return try begin(attempted, in: folder, under: consume locked)
        }
        let next = manager.declarations.withLock {
            $0.stateToSaveIfNotRun(declared, by: decision, from: state)
        }
        if let next {
            try locked.save(
                next,
                version: declared.version,
                orEndIn: decision.outcomeOfNotSaving(declared.version)
            )
        }
        Self.update(manager, from: locked)
    }

    /// Lets the manager know the versions that were read or saved with the lock.
    private static func update(_ manager: MigrationManager, from locked: borrowing LockedState) {
        guard let state = locked.state else { return }
        manager.declarations.withLock { $0.update(from: state.versions) }
    }

    private func decide(
        in state: MigrationState,
        applied: AppliedVersions?,
        attemptLimit: Int?
    ) throws(MigrationError) -> Decision {
        try manager.declarations.withLock { declarations throws(MigrationError) in
            try declarations.decide(
                declared,
                in: state.versions,
                hasRun: declared.hasRun(applied),
                attemptLimit: attemptLimit
            )
        }
    }

    private mutating func begin(
        _ attempted: AttemptedMigration,
        in folder: WorkingFolder?,
        under locked: consuming LockedState
    ) throws(MigrationError) {
        if Task.isCancelled {
            throw location.cancelled(
                declared.version,
                while: "was about to run migration \(declared.version)"
            )
        }
        var replacement: Replacement?
        if let replacing, let folder {
            replacement = try Replacement(
                of: replacing,
                in: folder,
                version: declared.version,
                location: location
            )
        }
        let attempt = try Attempt(
            attempted,
            minimumAppVersion: declared.minimumAppVersion,
            replacing: replacement,
            of: manager,
            under: locked
        )
        // No event `failed` is sent for an error before the closure, because no `started` was sent.
        try attempt.begin()
        self.attempt = attempt
    }

    /// Records the migration without an attempt, if there is a reason not to run it.
    ///
    /// This comes before the limit of attempts: a migration that doesn't have to run is recorded even if the
    /// limit is reached.
    ///
    /// - Returns: The event to send; `nil` if the migration has to run, or nothing is pending.
    private func recordWithoutRunning(
        in state: MigrationState,
        applied: AppliedVersions?,
        under locked: inout LockedState
    ) throws(MigrationError) -> MigrationEvent? {
        guard let otherRecord,
            case .run(let attempted) = try decide(in: state, applied: applied, attemptLimit: nil)
        else { return nil }
        let version = declared.version
        let previousVersion = state.versions.lastRun
        let pending = PendingMigration(version: version, previousVersion: previousVersion)
        let note: String?
        do {
            note = try RunToken.withToken(of: location) { try otherRecord.reasonNotToRun(pending) }
        } catch {
            throw .failed(version, in: location, attempt: attempted.attemptCount, because: error)
        }
        guard let note else { return nil }
        let row = AppliedMigration(attempted, after: previousVersion, at: Platform.now, in: .zero)
        let recorded = state.changed {
            $0.versions.raiseMinimumAppVersion(to: declared.minimumAppVersion)
            $0.record(row)
        }
        let outcome: Message = """
            Migration \(version) doesn't have to run, and was not recorded. The next start records it.
            """
        try locked.save(recorded, version: version, orEndIn: outcome)
        var event = MigrationEvent(.finished, managerName: location.name, version: version)
        event.previousVersion = previousVersion
        event.note = note
        return event
    }
}

// From returned to recorded or failed.
extension Runner {
    private func finish(_ attempt: Attempt, closureError: (any Error)?) throws(MigrationError) {
        defer {
            if let state = attempt.state {
                manager.declarations.withLock { $0.update(from: state.versions) }
            }
        }
        if let cause = closureError ?? attempt.rehearsedFailure() { throw attempt.fail(cause) }
        try attempt.record(alsoIn: otherRecord)
        attempt.send(attempt.event(.finished))
        attempt.releaseLock()
    }

    /// Closes the manager, releases the lock, and then sends the event `failed`, if an attempt had begun.
    ///
    /// - Returns: The error to throw.
    private func fail(_ failure: MigrationError) -> MigrationError {
        let error = failure.leaving(.migration(declared.version))
        manager.declarations.withLock { _ = $0.close(error) }
        guard let attempt else { return error }
        attempt.releaseLock()
        attempt.send(attempt.event(.failed, error: error))
        return error
    }
}
