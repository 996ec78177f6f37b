extension MigrationManager {
    /// A declaration that has something to run, as far as is known without the lock.
    struct Admission {
        let version: AppVersion
        /// Zero where every app may go on reading.
        let minimumAppVersion: AppVersion
        let ticket: Declarations.Ticket
    }

    /// An attempt whose closure was called, for the event of its failure.
    typealias Begun = (context: MigrationContext, lock: FileIdentity, duration: Duration?)

    @inline(never)
    func perform(
        _ admission: Admission,
        protecting paths: [String],
        _ body: (MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        defer { leave(admission) }
        var begun: Begun?
        do throws(MigrationError) {
            let locked = try LockedState.take(
                file,
                reporter,
                timeout: options.lockTimeout,
                for: admission.version,
                turn: { turn(of: admission) },
                isWanted: { () throws(MigrationError) in try requireOpen(admission) }
            )
            guard let attempt = try begin(admission, protecting: paths, locked) else { return false }
            begun = (attempt.context, locked.identity, nil)
            let failure = attempt.call(body)
            begun?.duration = attempt.duration
            try finish(attempt, failure)
            return true
        } catch {
            fail(begun, error)
            throw error
        }
    }

    func turn(of admission: Admission) -> LockWait.Turn {
        declarations.withLock { $0.turn(of: admission.ticket) }
    }

    @inline(never)
    func leave(_ admission: Admission) {
        declarations.withLock { $0.leave(admission.ticket, current: currentVersion) }
    }

    /// Throws where an earlier call failed while this one waited for its turn.
    func requireOpen(_ admission: Admission) throws(MigrationError) {
        try declarations.withLock { declarations throws(MigrationError) in
            try declarations.requireOpen(admission.version, file.location)
        }
    }

    /// Decides again by the state under the lock, and begins an attempt; `nil` when there is nothing to run any more.
    @inline(never)
    func begin(
        _ admission: Admission,
        protecting paths: [String],
        _ locked: LockedState
    ) throws(MigrationError) -> MigrationAttempt? {
        let version = admission.version
        let minimumAppVersion = admission.minimumAppVersion
        let state = try locked.existing()
        // An older app may have begun meanwhile what this one doesn't declare any more.
        if declarations.withLock({ $0.marks != state.marks }) {
            try release.requireUpgradable(state.marks, "Nothing was run.")
        }
        let decision = declarations.withLock {
            $0.decide(version, state.marks, current: currentVersion, limit: options.attemptLimit)
        }
        if let error = MigrationError.refusal(of: decision, version, current: currentVersion, file.location) {
            throw error
        }
        know(locked)
        switch decision {
        case .run(let attempt, let deaths):
            if Task.isCancelled { throw .cancelledBefore(version, file.location) }
            let run = try MigrationAttempt(
                version,
                attempt,
                deaths: deaths,
                current: currentVersion,
                minimumAppVersion: minimumAppVersion,
                protecting: paths,
                locked
            )
            try run.begin()
            return run
        default:
            let settled = decision.settling(
                state,
                version,
                minimumAppVersion: minimumAppVersion,
                current: currentVersion
            )
            guard let settled else { return nil }
            try locked.save(settled, version, else: decision.consequenceOfNotSaving)
            know(locked)
            return nil
        }
    }

    @inline(never)
    func finish(_ attempt: MigrationAttempt, _ failure: (any Error)?) throws(MigrationError) {
        defer { know(attempt.locked) }
        try attempt.finish(failure)
        know(attempt.locked)
        attempt.locked.send(attempt.event(.finished))
    }

    /// Closes the manager, and tells of a closure that was called.
    ///
    /// The lock is free again by now. Protected files may still wait to be put back, and the handler may wait for another
    /// thread that makes a manager, which puts them back.
    @inline(never)
    func fail(_ begun: Begun?, _ error: MigrationError) {
        declarations.withLock { $0.close(error) }
        guard let begun else { return }
        let event = MigrationEvent(.failed, begun.context, duration: begun.duration, error: error)
        reporter.send(event, lock: begun.lock)
    }

    /// Takes over what the state says now.
    @inline(never)
    private func know(_ locked: LockedState) {
        if let state = locked.state { declarations.withLock { $0.know(state.marks) } }
    }
}
