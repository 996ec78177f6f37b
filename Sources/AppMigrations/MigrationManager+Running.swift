extension MigrationManager {
    /// Runs a closure on this thread while holding the lock.
    ///
    /// Returns false if the closure no longer has to run, for example because another process has run the
    /// migration, or because `reasonNotToRun` returns a text.
    func perform(
        _ declaration: Declarations.Declaration,
        protecting paths: [String],
        unless reasonNotToRun: PendingMigration.ReasonNotToRun? = nil,
        _ body: (MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        defer { declarations.withLock { $0.endDeclaration() } }
        var run = makeRun(of: declaration, protecting: paths, unless: reasonNotToRun, caller: .synchronous)
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

    /// Runs an asynchronous closure while holding the lock.
    ///
    /// If this function has to wait for the lock, it suspends the task.
    nonisolated(nonsending) func perform(
        _ declaration: Declarations.Declaration,
        protecting paths: [String],
        unless reasonNotToRun: PendingMigration.ReasonNotToRun? = nil,
        _ body: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        defer { declarations.withLock { $0.endDeclaration() } }
        var run = makeRun(of: declaration, protecting: paths, unless: reasonNotToRun, caller: .asynchronous)
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
        unless reasonNotToRun: PendingMigration.ReasonNotToRun?,
        caller: LockWait.Caller
    ) -> MigrationRun {
        MigrationRun(
            of: declaration,
            protecting: paths,
            keepingReplaced: options.keepsReplacedFiles,
            lockTimeout: options.lockTimeout,
            attemptLimit: options.attemptLimit,
            unless: reasonNotToRun,
            reporter: reporter,
            caller: caller
        )
    }

    /// Ends a declaration of a read-only manager.
    ///
    /// Reads the state without the lock. Throws `readOnly` if the migration would have to run.
    private func endReadOnly(_ declaration: Declarations.Declaration) throws(MigrationError) {
        let state = try stateOrAssumed(file.readState())
        try declarations.withLock { declarations throws(MigrationError) in
            try declarations.endReadOnly(declaration, in: state)
        }
    }
}
