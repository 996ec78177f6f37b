extension MigrationManager {
    /// Runs a closure on this thread while holding the lock.
    ///
    /// Returns false if it needn't run any more, for example because another process has run it.
    func perform(
        _ declaration: Declarations.Declaration,
        protecting paths: [String],
        _ body: (MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        defer { declarations.withLock { $0.endDeclaration() } }
        var run = makeRun(of: declaration, protecting: paths, caller: .synchronous)
        do throws(MigrationError) {
            if location.isReadOnly {
                try endReadOnly(declaration)
                return false
            }
            while let pause = try run.step(in: declarations) { Platform.pause(pause) }
            guard let attempt = run.attempt else { return false }
            try run.finish(attempt, closureError: attempt.call(body), in: declarations)
            return true
        } catch {
            throw run.fail(error, in: declarations)
        }
    }

    /// Runs an asynchronous closure.
    ///
    /// A wait for the lock suspends the task.
    nonisolated(nonsending) func perform(
        _ declaration: Declarations.Declaration,
        protecting paths: [String],
        _ body: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        defer { declarations.withLock { $0.endDeclaration() } }
        var run = makeRun(of: declaration, protecting: paths, caller: .asynchronous)
        do throws(MigrationError) {
            if location.isReadOnly {
                try endReadOnly(declaration)
                return false
            }
            while let pause = try run.step(in: declarations) {
                // If the task is cancelled, the sleep ends early, and the next step throws.
                do { try await Task.sleep(nanoseconds: Platform.nanoseconds(pause)) } catch {}
            }
            guard let attempt = run.attempt else { return false }
            try run.finish(attempt, closureError: await attempt.call(body), in: declarations)
            return true
        } catch {
            throw run.fail(error, in: declarations)
        }
    }

    private func makeRun(
        of declaration: Declarations.Declaration,
        protecting paths: [String],
        caller: LockWait.Caller
    ) -> MigrationRun {
        MigrationRun(
            of: declaration,
            protecting: paths,
            lockTimeout: options.lockTimeout,
            attemptLimit: options.attemptLimit,
            reporter: reporter,
            caller: caller
        )
    }

    /// Ends a declaration of a read-only manager.
    ///
    /// It reads the state without the lock, and throws `readOnly` if a migration would have to run.
    private func endReadOnly(_ declaration: Declarations.Declaration) throws(MigrationError) {
        let state = try stateOrAssumed(file.readState())
        try declarations.withLock { declarations throws(MigrationError) in
            try declarations.endReadOnly(declaration, in: state)
        }
    }
}
