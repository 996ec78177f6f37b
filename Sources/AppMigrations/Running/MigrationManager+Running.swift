extension MigrationManager {
    @inline(never)
    func perform(
        _ admission: Admission,
        protecting paths: [String],
        _ body: (MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        defer { leave(admission) }
        var run: MigrationRun?
        do throws(MigrationError) {
            let lock = try FileLock.waiting(file.location, version: admission.version, options: options) {
                turn(of: admission)
            }
            let locked = LockedState(file, lock)
            defer { locked.unlock() }
            guard var begun = try begin(admission.version, protecting: paths, locked) else { return false }
            defer { run = begun }
            try finish(&begun, begun.call(body))
            return true
        } catch {
            fail(run, error)
            throw error
        }
    }

    func turn(of admission: Admission) -> LockWait.Turn {
        core.withLock { core in
            guard let first = core.queue.first, first != admission.ticket else { return .now }
            return first.isAsynchronous ? .afterAsynchronousCall : .later
        }
    }

    @inline(never)
    func leave(_ admission: Admission) {
        core.withLock { core in
            core.queue.removeAll { $0 == admission.ticket }
            core.settle(currentVersion)
        }
    }

    /// Reads the state again, decides again, and saves the intent; `nil` when there is nothing to run any more.
    func begin(
        _ version: AppVersion,
        protecting paths: [String],
        _ locked: LockedState
    ) throws(MigrationError) -> MigrationRun? {
        let location = file.location
        if case .closed(let first) = core.withLock({ $0.standing }) {
            throw .blocked(version, by: first, location)
        }
        guard var state = try locked.read() else { throw .gone(location) }
        try locked.recover(&state, options: options)
        let (known, isFresh) = core.withLock { ($0.marks, $0.isFresh) }
        let decision = decide(
            version,
            after: .zero,
            known,
            state.marks,
            isFresh: isFresh,
            limit: options.attemptLimit
        )
        if let error = refusal(of: decision, version) { throw error }
        core.withLock { $0.marks = state.marks }
        switch decision {
        case .run(let attempt, let deaths):
            return try begin(version, attempt, deaths, protecting: paths, state, locked)
        case .joinsBaseline:
            state.marks.baseline = version
            state.marks.pass(version)
            try save(state, locked, version, "Nothing was run; the next start declares it again.")
            return nil
        default:
            return nil
        }
    }

    private func begin(
        _ version: AppVersion,
        _ attempt: Int,
        _ deaths: Int,
        protecting paths: [String],
        _ before: MigrationState,
        _ locked: LockedState
    ) throws(MigrationError) -> MigrationRun {
        var state = before
        let snapshot = FileSnapshot(file.location)
        let protection = try snapshot.take(paths, version)
        let isProtecting = protection != nil
        let claim = isProtecting ? try snapshot.claim(version) : nil
        state.marks.launched = max(state.marks.launched, currentVersion)
        state.marks.begin(
            Interruption(
                version: version,
                attempts: attempt,
                deaths: deaths,
                protected: protection?.relatives ?? [],
                stateDirectory: protection?.stateFolder,
                appVersion: currentVersion,
                startedAt: Platform.now,
                failure: nil
            )
        )
        reach(.beforeIntent, version, isProtecting: isProtecting)
        do throws(SaveFailure) {
            try locked.save(state)
        } catch {
            claim?.end()
            throw withdraw(error, version, before, isProtecting: isProtecting, locked)
        }
        // Again, since another manager may have copied them while this one did: of two that list the same file each sees
        // the other's intent, or one of them does.
        do throws(MigrationError) {
            try protection?.refuseUnfinished(file.location, version)
        } catch {
            claim?.end()
            throw withdraw(error, version, before, locked)
        }
        reach(.beforeClosure, version, isProtecting: isProtecting)
        let context = MigrationContext(
            version: version,
            previousVersion: before.marks.lastRun,
            attempt: attempt,
            location: file.location,
            onEvent: options.onEvent
        )
        let run = MigrationRun(
            context: context,
            token: RunToken(file.location, .closure(lock: locked.identity)),
            locked: locked,
            claim: claim,
            protection: protection,
            state: state
        )
        send(.started, run)
        return run
    }

    /// Records that the closure returned, or that it threw.
    func finish(_ run: inout MigrationRun, _ failure: (any Error)?) throws(MigrationError) {
        // The clock of a machine whose time is set back, or that was moved to another host, can go backwards.
        let duration = max(.zero, Platform.uptime - run.began)
        run.duration = duration
        do throws(LockLoss) {
            // The claim keeps others away until the lock is certain.
            defer { run.claim?.end() }
            try run.locked.takeAgain()
        } catch {
            throw lost(run, error, failure)
        }
        if let failure = failure ?? rehearsal?.returned(run.context.version) { throw undo(run, failure) }
        try record(run, duration)
        send(.finished, run)
    }

    /// Closes the manager, and tells of a closure that was called.
    ///
    /// The lock is free again: protected files may still wait to be put back then, and who makes a manager on another
    /// thread, which the handler may wait for, has to be able to do it.
    @inline(never)
    func fail(_ run: MigrationRun?, _ error: MigrationError) {
        core.withLock { $0.close(error) }
        if let run { send(.failed, run, error) }
    }

    private func record(_ run: MigrationRun, _ duration: Duration) throws(MigrationError) {
        let version = run.context.version
        try synchronize(run)
        var state = run.state.recording(
            AppliedMigration(
                version: version,
                previousVersion: run.context.previousVersion,
                appVersion: currentVersion,
                finishedAt: Platform.now,
                duration: duration,
                attempts: run.context.attempt
            )
        )
        if run.isProtecting {
            state.marks.interrupted = run.state.marks.interrupted
            state.marks.interrupted?.release()
        }
        reach(.beforeRecord, version, isProtecting: run.isProtecting)
        do throws(SaveFailure) {
            try run.locked.save(state)
        } catch {
            if let loss = error.lockLoss { throw lost(run, loss, nil) }
            core.withLock { $0.marks = error.isRenamed ? state.marks : run.state.marks }
            if error.isRenamed {
                let consequence: Message = "Migration \(version) ran; after a power failure it may run again."
                throw .notSaved(error, version, file.location, consequence: consequence)
            }
            let restored = try putBack(run, failure: "The record could not be saved: \(error.cause)")
            let consequence: Message =
                "Migration \(version) ran and will run again with the next manager.\(restored)"
            throw .notSaved(error, version, file.location, consequence: consequence)
        }
        core.withLock { $0.marks = state.marks }
        reach(.afterRecord, version, isProtecting: run.isProtecting)
        guard run.isProtecting, run.locked.removeSnapshot(version, options: options) else { return }
        run.locked.forgetSnapshot(&state, options: options)
        core.withLock { $0.marks = state.marks }
    }

    private func undo(_ run: MigrationRun, _ cause: any Error) -> MigrationError {
        let consequence: Message
        do throws(MigrationError) {
            consequence = try putBack(run, failure: String(describing: cause))
        } catch {
            return error.following(cause)
        }
        let version = run.context.version
        return .failed(version, attempt: run.context.attempt, cause, file.location, consequence: consequence)
    }

    func save(
        _ state: MigrationState,
        _ locked: LockedState,
        _ version: AppVersion?,
        _ consequence: Message
    ) throws(MigrationError) {
        do throws(SaveFailure) {
            try locked.save(state)
        } catch {
            throw .notSaved(error, version, file.location, consequence: consequence)
        }
        core.withLock { $0.marks = state.marks }
    }

    @inline(never)
    func send(
        _ kind: MigrationEvent.Kind,
        _ run: MigrationRun,
        _ error: MigrationError? = nil
    ) {
        let event = MigrationEvent(
            kind,
            name,
            version: run.context.version,
            previousVersion: run.context.previousVersion,
            attempt: run.context.attempt,
            duration: run.duration,
            error: error
        )
        run.locked.tell(event, options)
    }
}
