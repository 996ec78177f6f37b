extension MigrationManager {
    /// Runs a closure under the lock, on this thread; `false` where there is nothing to run any more.
    func perform(
        _ declaration: Declarations.Declaration,
        protecting paths: [String],
        _ body: (MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        defer { declarations.withLock { $0.end() } }
        var run = MigrationRun(self, declaration, paths, .synchronous)
        do throws(MigrationError) {
            while let pause = try run.step() { Platform.pause(pause) }
            guard let attempt = run.attempt else { return false }
            try run.finish(attempt, attempt.call(body))
            return true
        } catch {
            throw run.fail(error)
        }
    }

    /// Runs an asynchronous closure: waiting suspends the task.
    nonisolated(nonsending) func perform(
        _ declaration: Declarations.Declaration,
        protecting paths: [String],
        _ body: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        defer { declarations.withLock { $0.end() } }
        var run = MigrationRun(self, declaration, paths, .asynchronous)
        do throws(MigrationError) {
            while let pause = try run.step() {
                // Cancelled: the next step throws.
                do { try await Task.sleep(nanoseconds: Platform.nanoseconds(pause)) } catch {}
            }
            guard let attempt = run.attempt else { return false }
            try run.finish(attempt, await attempt.call(body))
            return true
        } catch {
            throw run.fail(error)
        }
    }
}

/// The run of one declaration, step by step: the entries differ only in how time passes between two steps and how the closure is called.
///
/// ``MigrationAttempt`` has the order of the writes: copies, intent, closure, sync, record.
struct MigrationRun: ~Copyable {
    private let manager: MigrationManager
    private let declaration: Declarations.Declaration
    private let paths: [String]
    private var wait: LockWait

    /// The attempt whose closure is to be called; `nil` where there is nothing to run any more.
    private(set) var attempt: MigrationAttempt?

    init(
        _ manager: MigrationManager,
        _ declaration: Declarations.Declaration,
        _ paths: [String],
        _ caller: LockWait.Caller
    ) {
        (self.manager, self.declaration, self.paths) = (manager, declaration, paths)
        wait = LockWait(manager.reporter, declaration.version, timeout: manager.options.lockTimeout, caller)
    }

    /// Returns how long to wait before the next step, or `nil` once it is decided what ``attempt`` is.
    mutating func step() throws(MigrationError) -> Duration? {
        if manager.file.location.isReadOnly {
            try look()
            return nil
        }
        guard let lock = try wait.step() else { return wait.pause }
        try begin(LockedState(lock, manager.reporter))
        return nil
    }

    /// Ends the declaration of a manager that only looks.
    private func look() throws(MigrationError) {
        let state = try manager.known(manager.file.readState())
        try manager.declarations.withLock { declarations throws(MigrationError) in
            try declarations.look(at: declaration, in: state)
        }
    }

    /// Decides again by the state under the lock, and begins an attempt.
    private mutating func begin(_ locked: LockedState) throws(MigrationError) {
        let (version, state) = (declaration.version, try locked.existing())
        let decision = try manager.declarations.withLock { declarations throws(MigrationError) in
            try declarations.decide(
                declaration,
                state.marks,
                hasRun: state.hasRun(declaration),
                limit: manager.options.attemptLimit
            )
        }
        defer { know(locked) }
        guard case .run(let known) = decision else {
            let settled = manager.declarations.withLock { $0.settling(state, declaration, decision) }
            guard let settled else { return }
            try locked.save(settled, version, else: decision.consequenceOfNotSaving(version))
            return
        }
        if Task.isCancelled {
            throw locked.location.cancelled(version, "was about to run migration \(version)")
        }
        let attempt = try MigrationAttempt(
            of: known,
            minimumAppVersion: declaration.minimumAppVersion,
            isProtecting: !paths.isEmpty,
            under: locked
        )
        try attempt.begin(protecting: paths)
        self.attempt = attempt
    }

    /// Records that the closure returned, or undoes what it did before it threw.
    func finish(_ attempt: MigrationAttempt, _ failure: (any Error)?) throws(MigrationError) {
        let outcome = Result { () throws(MigrationError) in try attempt.finish(failure) }
        know(attempt.locked)
        try outcome.get()
        attempt.locked.send(attempt.event(.finished))
    }

    /// Closes the manager, sends an event if the closure was called, and returns the error to throw.
    ///
    /// The lock is free again by then. Protected files may still wait to be put back, and the handler may wait for another
    /// thread that makes a manager, which puts them back.
    mutating func fail(_ failure: MigrationError) -> MigrationError {
        // Once the closure was called, the error says what became of the migration.
        let error = attempt == nil ? failure.completed(declaring: declaration.version) : failure
        manager.declarations.withLock { $0.close(error) }
        guard let event = attempt?.event(.failed, error) else { return error }
        attempt = nil
        manager.reporter.send(event)
        return error
    }

    private func know(_ locked: LockedState) {
        if let state = locked.state { manager.declarations.withLock { $0.learn(state) } }
    }
}
