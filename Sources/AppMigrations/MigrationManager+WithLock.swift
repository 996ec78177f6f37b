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
    /// In a plan, the closure isn't called: the call returns at once, or throws `nested` if it has to return
    /// a value. If the closure throws, this method throws the same error. That doesn't close the manager, so
    /// it can still declare migrations.
    ///
    /// - Parameter body: The work. If it declares a migration of this state or calls `withLock` again, that
    ///   call throws `nested`.
    /// - Returns: The value that the closure returns.
    /// - Throws: The error of the closure. If the closure was not called, a ``MigrationError`` with the code
    ///   `readOnly`, `managerClosed` (also after a declaration has failed), `usedByNewerApp` (if this app has
    ///   a ``requiredAppVersion``), `nested`, `lockTimeout`, `cancelled`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `stateNotSaved` or `replacementFailed` (if a process
    ///   died while it was replacing a file or a folder, and the original can't be put back).
    public func withLock<Value>(_ body: () throws -> Value) throws -> Value {
        if let nothing = try valueInPlan(Value.self) { return nothing }
        let lock: FileLock
        do throws(MigrationError) {
            try requireUsable()
            lock = try FileLock.take(at: location, options: options)
            try requireUsableState(under: lock)
        } catch {
            throw error.leaving(Self.notCalled)
        }
        defer { lock.unlock() }
        return try RunToken.withToken(of: location, isWithLock: true, body)
    }

    /// Calls an asynchronous closure while this manager holds the lock of its state.
    ///
    /// This method does the same as ``withLock(_:)-919t3``. While it waits for the lock, the task is
    /// suspended. The closure runs on the caller's actor.
    nonisolated(nonsending) public func withLock<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        if let nothing = try valueInPlan(Value.self) { return nothing }
        let lock: FileLock
        do throws(MigrationError) {
            try requireUsable()
            lock = try await FileLock.take(at: location, options: options)
            try requireUsableState(under: lock)
        } catch {
            throw error.leaving(Self.notCalled)
        }
        defer { lock.unlock() }
        let token = RunToken(location, isWithLock: true)
        defer { token.end() }
        return try await RunToken.$current.withValue(token.openTokens, operation: body)
    }
}

extension MigrationManager {
    private static var notCalled: MigrationError.Unchanged {
        .text("The closure of withLock was not called.")
    }

    /// What `withLock` returns without calling its closure; `nil` if this isn't the manager of a plan.
    ///
    /// - Throws: ``MigrationError`` with the code `nested` if the closure has to return a value.
    private func valueInPlan<Value>(_ type: Value.Type) throws(MigrationError) -> Value? {
        // In a plan, a refused declaration closes the manager, and the plan continues. So check this first.
        guard declarations.withLock({ $0.plan != nil }) else { return nil }
        if let nothing = () as? Value { return nothing }
        throw location.error(
            .nested,
            "A plan of \(location) calls no closure, so withLock has no value to return.",
            unchanged: Self.notCalled,
            advice: "Call withLock after the declarations, with the manager on which plan was called."
        )
    }

    /// Throws if the closure must not be called.
    private func requireUsable() throws(MigrationError) {
        if let firstFailure {
            let subject: Message = "The closure of withLock was not called"
            throw .managerClosed(nil, subject: subject, by: firstFailure, in: location)
        }
        try requireWritable()
    }

    /// Reads the state under the lock that the caller keeps, and throws if the closure must not be called.
    private func requireUsableState(under lock: FileLock) throws(MigrationError) {
        guard var versions = try file.readVersions() else { throw .gone(location) }
        // The process that held the lock before may have died while it was replacing a folder, which can be
        // missing then.
        if versions.namesReplacement {
            var locked = try LockedState(keeping: lock, at: location)
            try locked.settleReplacements(sendingTo: options.onEvent)
            versions = try locked.existing().versions
        }
        // A newer release may have begun to change the data while this call waited.
        try rules.requireUsable(versions)
        if Task.isCancelled {
            throw location.cancelled(nil, while: "was about to call the closure of withLock")
        }
    }
}
