extension MigrationManager {
    /// Runs a closure under the lock, on this thread; `false` where there is nothing to run any more.
    @inline(never)
    func perform(
        _ declaration: Declarations.Declaration,
        protecting paths: [String],
        _ body: (MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        defer { declarations.withLock { $0.end() } }
        let (version, timeout) = (declaration.version, options.lockTimeout)
        var called: (MigrationContext, Duration?)?
        do throws(MigrationError) {
            let locked = try LockedState.take(file, reporter, timeout: timeout, for: version)
            guard let attempt = try begin(declaration, protecting: paths, locked) else { return false }
            while let pause = try attempt.pauseForOthers(timeout: timeout, isAsynchronous: false) {
                Platform.pause(pause)
            }
            try attempt.begin()
            let failure = attempt.call(body)
            called = (attempt.context, attempt.duration)
            try finish(attempt, failure)
            return true
        } catch {
            fail(error, called)
            throw error
        }
    }

    /// Runs an asynchronous closure: waiting for the lock suspends the task.
    @inline(never)
    nonisolated(nonsending) func perform(
        _ declaration: Declarations.Declaration,
        protecting paths: [String],
        _ body: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        defer { declarations.withLock { $0.end() } }
        let (version, timeout) = (declaration.version, options.lockTimeout)
        var called: (MigrationContext, Duration?)?
        do throws(MigrationError) {
            let locked = try await LockedState.take(awaiting: file, reporter, timeout: timeout, for: version)
            guard let attempt = try begin(declaration, protecting: paths, locked) else { return false }
            while let pause = try attempt.pauseForOthers(timeout: timeout, isAsynchronous: true) {
                // Cancelled: the next look throws.
                do { try await Task.sleep(nanoseconds: Platform.nanoseconds(pause)) } catch {}
            }
            try attempt.begin()
            let failure = await attempt.call(body)
            called = (attempt.context, attempt.duration)
            try finish(attempt, failure)
            return true
        } catch {
            fail(error, called)
            throw error
        }
    }

    /// Decides again by the state under the lock, and begins an attempt; `nil` when there is nothing to run any more.
    private func begin(
        _ declaration: Declarations.Declaration,
        protecting paths: [String],
        _ locked: LockedState
    ) throws(MigrationError) -> MigrationAttempt? {
        let state = try locked.existing()
        let decision = try declarations.withLock { declarations throws(MigrationError) in
            let decision = try declarations.decide(declaration, state.marks, limit: options.attemptLimit)
            declarations.marks = state.marks
            return decision
        }
        guard case .run(let number, let deaths) = decision else {
            let settled = declarations.withLock { $0.settling(state, declaration, decision) }
            guard let settled else { return nil }
            try locked.save(settled, declaration.version, else: decision.consequenceOfNotSaving)
            know(locked)
            return nil
        }
        if Task.isCancelled {
            throw file.location.error(
                .cancelled,
                declaration.version,
                because: CancellationError(),
                """
                The task was cancelled before migration \(declaration.version) of manager \(name.quoted) began. Nothing of it was \
                run. Make a new manager to try again.
                """
            )
        }
        let known = state.marks.attempt(number, at: declaration.version, deaths: deaths, by: currentVersion)
        let floor = declaration.minimumAppVersion
        return try MigrationAttempt(known, minimumAppVersion: floor, protecting: paths, locked)
    }

    private func finish(_ attempt: MigrationAttempt, _ failure: (any Error)?) throws(MigrationError) {
        defer { know(attempt.locked) }
        try attempt.finish(failure)
        know(attempt.locked)
        attempt.locked.send(attempt.event(.finished))
    }

    /// Closes the manager, and tells of a closure that was called.
    ///
    /// The lock is free again by now. Protected files may still wait to be put back, and the handler may wait for another
    /// thread that makes a manager, which puts them back.
    private func fail(_ error: MigrationError, _ called: (MigrationContext, Duration?)?) {
        declarations.withLock { $0.close(error) }
        guard let (context, duration) = called else { return }
        reporter.send(MigrationEvent(.failed, context, duration: duration, error: error))
    }

    /// Takes over what the state says now.
    private func know(_ locked: LockedState) {
        if let state = locked.state { declarations.withLock { $0.marks = state.marks } }
    }
}
