extension MigrationManager {
    /// Runs `run` once for this data, when the app is updated to `toVersion` or a later version.
    ///
    /// The closure runs before the call returns, on the caller's thread. If the version has run already, the
    /// call costs some nanoseconds and makes no system call. In asynchronous code, Swift selects this
    /// overload if the closure has no `await`. It blocks the calling thread while another process is
    /// migrating.
    ///
    /// - Parameters:
    ///   - toVersion: A version (`1.1`), or one of several migrations in a version (`1.1-2`, a
    ///     sub-migration). It has to be above the version declared before it, and at most the app's version.
    ///     For the second comparison, `1.1-2` counts as `1.1`.
    ///   - outOfOrder: True if the migration also runs when its version is below the last-run version, if it
    ///     never ran on this data. Use it for a migration that was added in a hotfix, after a later version
    ///     had been released. If its version is above the baseline (the version of the data when the state
    ///     was created), each start reads the whole state file, history included. The guide *Writing
    ///     migrations* has the rules.
    ///   - minimumAppVersion: The oldest app that can still use the data once this migration has begun, at
    ///     most `toVersion`. It is saved before the closure runs. After that, in an older app
    ///     `requiredAppVersion` isn't `nil`, even if the closure fails. If the migration has already run, or
    ///     belongs to the baseline, its closure doesn't run, but the minimum is still saved if the state
    ///     doesn't have it yet. `nil` doesn't limit older apps.
    ///   - paths: Files and folders that are restored to what they were if the closure throws or its process
    ///     dies, and that are synced to disk before the closure is recorded. A restore replaces each file by
    ///     its copy, so nobody may have one of them open. Name the files that the closure changes. If there
    ///     are hundreds, name their folder instead.
    ///   - run: The work. It runs again if it throws or its process dies, so make it repeatable, or name the
    ///     files that it changes in `protecting:`. A closure that writes to other files synchronizes them
    ///     before it returns, with ``MigrationContext/synchronize(_:)-([String])``. Otherwise, after a power
    ///     failure, the migration can be recorded as done although its changes are lost.
    /// - Returns: True if the closure ran. `false` means that the version has run already, belongs to the
    ///   baseline, or was missed: it is below the last-run version, never ran here, and isn't declared with
    ///   `outOfOrder: true`. ``plan(_:)-9ywei`` says which. It never means that a newer app prevents the
    ///   version from running: that is the error `usedByNewerApp`.
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion`,
    ///   `declaredOutOfOrder`, `managerClosed`, `nested`, `usedByNewerApp`, `tooOld`, `readOnly`,
    ///   `attemptLimitReached`, `lockTimeout`, `cancelled`, `stateUnreadable`, `stateCorrupted`,
    ///   `stateFromNewerFormat`, `protectionFailed`, `stateNotSaved`, or `migrationFailed` with the closure's
    ///   error as ``MigrationError/underlyingError``. Each of these errors closes the manager. The exception
    ///   is `nested`, if it is thrown in a plan, or because another declaration of this manager is still
    ///   running.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: () throws -> Void
    ) throws(MigrationError) -> Bool {
        let declaration = try declare(
            toVersion,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        )
        guard let declaration else { return false }
        return try perform(declaration, protecting: paths) { _ in try run() }
    }

    /// Runs `run` with its context, once in the life of this data, when the app moves past `toVersion`.
    ///
    /// Declares as ``whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)-9skx9`` does, for
    /// a closure that uses its attempt, reports progress or saves checkpoints.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: (MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        let declaration = try declare(
            toVersion,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        )
        guard let declaration else { return false }
        return try perform(declaration, protecting: paths, run)
    }

    /// Runs an asynchronous closure, once in the life of this data, when the app moves past `toVersion`.
    ///
    /// Declares as ``whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)-9skx9`` does. The
    /// closure runs on the caller's actor. A wait for another process suspends the task, and cancelling the
    /// task ends the wait with the code `cancelled`.
    ///
    /// Assign the manager to a constant first: with Swift 6.3, a release build of `try await
    /// make().whenMigrating(…)` can crash if `make()` throws.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: nonisolated(nonsending) () async throws -> Void
    ) async throws(MigrationError) -> Bool {
        let declaration = try declare(
            toVersion,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        )
        guard let declaration else { return false }
        return try await perform(declaration, protecting: paths) { _ in try await run() }
    }

    /// Runs an asynchronous closure with its context, once in the life of this data, when the app moves past
    /// `toVersion`.
    ///
    /// Declares as ``whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)-6x6tk`` does, on
    /// the caller's actor.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        let declaration = try declare(
            toVersion,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        )
        guard let declaration else { return false }
        return try await perform(declaration, protecting: paths, run)
    }

    /// Decides from what the manager has read already whether the closure has to run.
    ///
    /// Returns `nil` if not.
    @inline(__always)
    private func declare(
        _ text: String,
        outOfOrder: Bool,
        minimumAppVersion: String?
    ) throws(MigrationError) -> Declarations.Declaration? {
        if minimumAppVersion == nil, !outOfOrder, let version = AppVersion(text),
            declarations.withLock({ $0.takeShortcut(for: version) })
        {
            return nil
        }
        return try declareWithoutShortcut(
            text,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        )
    }

    private func declareWithoutShortcut(
        _ text: String,
        outOfOrder: Bool,
        minimumAppVersion: String?
    ) throws(MigrationError) -> Declarations.Declaration? {
        let isPlanned = try declarations.withLock { declarations throws(MigrationError) in
            try declarations.addRow(for: text, outOfOrder: outOfOrder, minimumAppVersion: minimumAppVersion)
        }
        if isPlanned { return nil }
        let enclosing: RunToken?
        do throws(MigrationError) {
            enclosing = try RunToken.enclosing(location)
        } catch {
            throw closed(by: error, declaring: text)
        }
        if let enclosing, enclosing.isPlan {
            let version = AppVersion(text)
            throw .nested(version, in: location).completed(declaring: version)
        }
        guard try mayDecide(text, outOfOrder: outOfOrder) else { return nil }
        if outOfOrder { try readWholeState(for: text) }
        return try declarations.withLock { declarations throws(MigrationError) in
            try declarations.declare(
                text,
                outOfOrder: outOfOrder,
                minimumAppVersion: minimumAppVersion,
                isNested: enclosing != nil
            )
        }
    }

    /// Reads the whole state for a version that is declared out of order.
    ///
    /// It does so only if the history is needed to know whether that version has run.
    private func readWholeState(for text: String) throws(MigrationError) {
        guard declarations.withLock({ $0.needsWholeState(for: text) }) else { return }
        do throws(MigrationError) {
            let state = try stateOrAssumed(file.readState())
            declarations.withLock { $0.keepWholeState(state) }
        } catch {
            throw closed(by: error, declaring: text)
        }
    }

    /// Closes the manager because of an error that occurred before the manager could decide whether the
    /// migration has to run.
    ///
    /// - Returns: The error to throw.
    private func closed(by error: MigrationError, declaring text: String) -> MigrationError {
        let refusal = error.completed(declaring: AppVersion(text))
        declarations.withLock { $0.close(refusal) }
        return refusal
    }

    /// False if this manager is one of a rehearsal, and the rehearsal skips this declaration.
    private func mayDecide(_ text: String, outOfOrder: Bool) throws(MigrationError) -> Bool {
        guard let rehearsal, let version = AppVersion(text) else { return true }
        switch rehearsal.declared(version, outOfOrder: outOfOrder) {
        case .continue: return true
        case .passOver: return false
        case .stop:
            throw declarations.withLock { $0.closeForRehearsal(before: version) }
        }
    }
}
