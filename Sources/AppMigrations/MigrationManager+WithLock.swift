extension MigrationManager {
    /// Calls a closure while no other process runs a migration of this state or is inside of this call.
    ///
    /// Use it for work that must not be done by two processes at the same time, and that keeps its own record
    /// of what is done, such as GRDB's `DatabaseMigrator`:
    ///
    /// ```swift
    /// try migrations.withLock { try migrator.migrate(queue) }
    /// ```
    ///
    /// This library records nothing about the work, so each call calls the closure. To take the lock costs
    /// some system calls that a start without pending migrations doesn't make. If your app starts often, ask
    /// first whether there is anything to do.
    ///
    /// In a plan, the closure isn't called. If the closure throws, its error is thrown, and later declarations
    /// still run. If a process crashed in a migration that protects files, they are restored first.
    ///
    /// - Parameter body: The work. It must not declare a migration of this state: that throws `nested`.
    /// - Throws: The error of the closure. Before the closure is called, a ``MigrationError`` with the code
    ///   `readOnly`, `managerClosed` (also after a declaration has failed), `usedByNewerApp` (below the
    ///   ``requiredAppVersion``), `nested`, `lockTimeout`, `cancelled`, `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed` or
    ///   `stateNotSaved`.
    public func withLock(_ body: () throws -> Void) throws {
        if try !callsBack() { return }
        let locked = try withoutCall { () throws(MigrationError) in
            try usableState(under: LockedState.takeLock(reporter, timeout: options.lockTimeout))
        }
        // The lock is released when `locked` is.
        defer { withExtendedLifetime(locked) {} }
        let token = RunToken(location)
        defer { token.end() }
        try RunToken.$current.withValue(token.openTokens, operation: body)
    }

    /// Calls an asynchronous closure while no other process runs a migration of this state or is inside of
    /// this call.
    ///
    /// It does the same as ``withLock(_:)-7fn8s``. While it waits for the lock, the task is suspended. The
    /// closure runs on the caller's actor.
    nonisolated(nonsending) public func withLock(
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        if try !callsBack() { return }
        var wait = LockWait(reporter, version: nil, timeout: options.lockTimeout, caller: .asynchronous)
        func stateIfLocked() throws(MigrationError) -> LockedState? {
            try withoutCall { () throws(MigrationError) in
                try wait.step().map { lock throws(MigrationError) in try usableState(under: lock) }
            }
        }
        var locked = try stateIfLocked()
        while locked == nil {
            // If the task is cancelled, the sleep ends early, and the next step throws.
            do { try await Task.sleep(nanoseconds: Platform.nanoseconds(wait.pause)) } catch {}
            locked = try stateIfLocked()
        }
        defer { withExtendedLifetime(locked) {} }
        let token = RunToken(location)
        defer { token.end() }
        try await RunToken.$current.withValue(token.openTokens, operation: body)
    }
}

extension MigrationManager {
    /// False if this is the manager of a plan; throws if the closure must not be called.
    private func callsBack() throws(MigrationError) -> Bool {
        try withoutCall { () throws(MigrationError) in
            // A plan goes on after a declaration that it refuses.
            if declarations.withLock({ $0.plan != nil }) { return false }
            if let failure = declarations.withLock({ $0.firstFailure }) {
                let subject: Message = "The closure of withLock was not called"
                throw .managerClosed(nil, subject: subject, by: failure, in: location)
            }
            try requireWritable()
            return true
        }
    }

    /// Reads the state while the lock is held, and throws if the closure must not be called.
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

    /// Adds to the errors of `body` that the closure was not called.
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
