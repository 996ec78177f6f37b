extension MigrationManager {
    /// Calls a closure while this manager holds the lock of its state.
    ///
    /// So no other process or caller runs a migration of this state, or another closure of `withLock`, at the
    /// same time. Use it for work that two processes must not do at the same time, and that keeps its own
    /// record of the work that is done. GRDB's `DatabaseMigrator` is an example:
    ///
    /// ```swift
    /// try migrations.withLock { try migrator.migrate(queue) }
    /// ```
    ///
    /// This library records nothing about the work, so each call of this method calls the closure. Taking the
    /// lock costs some system calls that a start without pending migrations doesn't make. If your app starts
    /// often, first check whether there is anything to do.
    ///
    /// In a plan, the closure isn't called. If the closure throws, this method throws the same error, and the
    /// manager stays open for later declarations. If a process crashed in a migration that protects files,
    /// these files are restored before the closure is called.
    ///
    /// - Parameter body: The work. If it declares a migration of this state or calls `withLock` again, that
    ///   call throws `nested`.
    /// - Throws: The error of the closure. If the closure was not called, a ``MigrationError`` with the code
    ///   `readOnly`, `managerClosed` (also after a declaration has failed), `usedByNewerApp` (if this app has
    ///   a ``requiredAppVersion``), `nested`, `lockTimeout`, `cancelled`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed` or `stateNotSaved`.
    public func withLock(_ body: () throws -> Void) throws {
        if try !callsBack() { return }
        var wait = lockWait(of: .synchronous)
        let locked = try withoutCall { () throws(MigrationError) in
            while true {
                if let lock = try wait.step() { return try usableState(under: lock) }
                Platform.pause(wait.pause)
            }
        }
        // Keep `locked` until the closure has ended: the lock is released together with it.
        defer { withExtendedLifetime(locked) {} }
        let token = RunToken(location)
        defer { token.end() }
        try RunToken.$current.withValue(token.openTokens, operation: body)
    }

    /// Calls an asynchronous closure while this manager holds the lock of its state.
    ///
    /// This method does the same as ``withLock(_:)-7fn8s``. While it waits for the lock, the task is
    /// suspended. The closure runs on the caller's actor.
    nonisolated(nonsending) public func withLock(
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        if try !callsBack() { return }
        var wait = lockWait(of: .asynchronous)
        var lock = try withoutCall { () throws(MigrationError) in try wait.step() }
        while lock == nil {
            // If the task is cancelled, the sleep ends early, and the next step throws.
            do { try await Task.sleep(nanoseconds: Platform.nanoseconds(wait.pause)) } catch {}
            lock = try withoutCall { () throws(MigrationError) in try wait.step() }
        }
        guard let lock else { return }
        let locked = try withoutCall { () throws(MigrationError) in
            try usableState(under: lock)
        }
        defer { withExtendedLifetime(locked) {} }
        let token = RunToken(location)
        defer { token.end() }
        try await RunToken.$current.withValue(token.openTokens, operation: body)
    }
}

extension MigrationManager {
    /// Returns whether to call the closure; throws if a call is refused.
    ///
    /// It is false for the manager of a plan.
    private func callsBack() throws(MigrationError) -> Bool {
        try withoutCall { () throws(MigrationError) in
            // In a plan, a refused declaration isn't an error of this call: the plan also lists the later
            // declarations.
            if declarations.withLock({ $0.plan != nil }) { return false }
            if let failure = declarations.withLock({ $0.firstFailure }) {
                let subject: Message = "The closure of withLock was not called"
                throw .managerClosed(nil, subject: subject, by: failure, in: location)
            }
            try requireWritable()
            return true
        }
    }

    /// Reads the state under a lock that this call has just taken.
    ///
    /// - Throws: ``MigrationError`` if the closure must not be called.
    private func usableState(under lock: FileLock) throws(MigrationError) -> LockedState {
        let locked = try LockedState(lock, reporter: reporter)
        // A newer release may have begun to change the data while this call waited.
        if let newer = try locked.existing().versions.minimumAppVersion(above: currentVersion) {
            throw location.error(
                .usedByNewerApp,
                """
                Version \(newer) of the app or a later one has to use the data of \(location), and this app is version \
                \(currentVersion).
                """,
                advice: "Start version \(newer) or a later one."
            )
        }
        if Task.isCancelled {
            throw location.cancelled(nil, while: "was about to call the closure of withLock")
        }
        return locked
    }

    private func lockWait(of caller: LockWait.Caller) -> LockWait {
        LockWait(reporter, version: nil, timeout: options.lockTimeout, caller: caller)
    }

    /// Calls `body`, and adds to its error that the closure of `withLock` was not called.
    private func withoutCall<Value>(
        _ body: () throws(MigrationError) -> Value
    ) throws(MigrationError) -> Value {
        do throws(MigrationError) {
            return try body()
        } catch {
            throw error.completed(by: "The closure of withLock was not called.")
        }
    }
}
