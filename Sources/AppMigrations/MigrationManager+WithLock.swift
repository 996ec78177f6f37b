extension MigrationManager {
    /// Calls a closure while this manager holds the lock of its state.
    ///
    /// While the closure runs, everyone else who needs this lock waits: migrations of the same state, and
    /// other calls of `withLock`, in any process. There is one exception: if an asynchronous closure of this
    /// process holds the lock, a synchronous call throws `nested`, because it could block the thread that the
    /// closure needs. Use it for work that must not run twice at the same time.
    /// The work must know by itself what is already done. GRDB's `DatabaseMigrator` is an example:
    ///
    /// ```swift
    /// try migrations.withLock { try migrator.migrate(queue) }
    /// ```
    ///
    /// This library records nothing about the work, so each call of this method calls the closure. Taking the
    /// lock costs some system calls that a start without pending migrations doesn't make. If your app starts
    /// often, first check whether there is anything to do.
    ///
    /// The work reports no progress and saves no checkpoints. If a gate is cancelled, or a tool gets Ctrl-C,
    /// the task is only cancelled, so call `Task.checkCancellation()` in long work.
    ///
    /// In a plan, the closure isn't called. If the closure throws, this method throws the same error. That
    /// doesn't close the manager, so it can still declare migrations. If a process crashed in a migration
    /// that protects files, these files are restored before the closure is called.
    ///
    /// - Parameter body: The work. If it declares a migration of this state or calls `withLock` again, that
    ///   call throws `nested`.
    /// - Throws: The error of the closure. If the closure was not called, a ``MigrationError`` with the code
    ///   `readOnly`, `managerClosed` (also after a declaration has failed), `usedByNewerApp` (if this app has
    ///   a ``requiredAppVersion``), `nested`, `lockTimeout`, `cancelled`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed` or `stateNotSaved`.
    public func withLock(_ body: () throws -> Void) throws {
        let locked: LockedState
        do throws(MigrationError) {
            if try !callsBack() { return }
            locked = try usableState(under: LockedState.takeLock(reporter, timeout: options.lockTimeout))
        } catch {
            throw error.completed(by: Self.notCalled)
        }
        // Keep `locked` until the closure has ended: the lock is released together with it.
        defer { withExtendedLifetime(locked) {} }
        try RunToken.withToken(of: location, body)
    }

    /// Calls an asynchronous closure while this manager holds the lock of its state.
    ///
    /// This method does the same as ``withLock(_:)-7fn8s``. While it waits for the lock, the task is
    /// suspended. The closure runs on the caller's actor.
    nonisolated(nonsending) public func withLock(
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        let locked: LockedState
        do throws(MigrationError) {
            if try !callsBack() { return }
            let lock = try await LockedState.takeLock(reporter, timeout: options.lockTimeout)
            locked = try usableState(under: lock)
        } catch {
            throw error.completed(by: Self.notCalled)
        }
        defer { withExtendedLifetime(locked) {} }
        let token = RunToken(location)
        defer { token.end() }
        try await RunToken.$current.withValue(token.openTokens, operation: body)
    }
}

extension MigrationManager {
    private static var notCalled: Message { "The closure of withLock was not called." }

    /// False if this is the manager of a plan.
    ///
    /// Throws if the closure must not be called.
    private func callsBack() throws(MigrationError) -> Bool {
        // In a plan, a refused declaration closes the manager, and the plan continues. So check this first.
        if declarations.withLock({ $0.plan != nil }) { return false }
        if let firstFailure {
            let subject: Message = "The closure of withLock was not called"
            throw .managerClosed(nil, subject: subject, by: firstFailure, in: location)
        }
        try requireWritable()
        return true
    }

    /// Reads the state while the lock is held.
    ///
    /// Throws if the closure must not be called.
    private func usableState(under lock: FileLock) throws(MigrationError) -> LockedState {
        let locked = try LockedState(lock, reporter: reporter)
        // A newer release may have begun to change the data while this call waited.
        try rules.requireUsable(locked.existing().versions)
        if Task.isCancelled {
            throw location.cancelled(nil, while: "was about to call the closure of withLock")
        }
        return locked
    }
}
