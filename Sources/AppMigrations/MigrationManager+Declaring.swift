extension MigrationManager {
    /// Runs `run`, once in the life of this data, when the app moves past `toVersion`.
    ///
    /// The closure runs before the call returns, on the caller's thread. If the version has run already, the
    /// call costs some nanoseconds and makes no system call. In asynchronous code, a closure without `await`
    /// selects this overload, which waits for another process on the calling thread.
    ///
    /// - Parameters:
    ///   - toVersion: The version, or the sub-migration of one (`1.1-2`). It has to be after the version that
    ///     was declared before it, and not after the app's. A sub-migration is compared with the app's
    ///     version by its release.
    ///   - outOfOrder: True if the version also runs below the last-run version, once, if it hasn't run: for
    ///     a version that a hotfix brought after a later version was released. If it is above the baseline,
    ///     each start reads the whole state. The guide *Writing migrations* has the rules.
    ///   - minimumAppVersion: The oldest app that can still use the data once this migration has begun, at
    ///     most `toVersion`. It is saved before the closure runs. After that, older apps have a
    ///     ``requiredAppVersion``, even if the closure fails. If the version has run already, or belongs to
    ///     the baseline, a minimum that isn't in the state yet is saved by itself. `nil` doesn't limit older
    ///     apps.
    ///   - paths: Files and folders that are restored to what they were if the closure throws or its process
    ///     dies, and that are synced to disk before the closure is recorded. A restore replaces each file by
    ///     its copy, so nobody may have one of them open. Name the files that the closure changes; if these
    ///     are hundreds, name their folder.
    ///   - run: The work. It runs again if it throws or its process dies, so make it repeatable, or name the
    ///     files that it changes in `protecting:`. A closure that writes to other files synchronizes them
    ///     before it returns, with ``MigrationContext/synchronize(_:)-([String])``. Otherwise a power failure
    ///     can keep the record and lose the work.
    /// - Returns: True if the closure ran. `false` means that the version has run already, belongs to the
    ///   baseline, or was missed: it is below the last-run version, never ran here, and isn't declared with
    ///   `outOfOrder: true`. ``plan(_:)-9ywei`` says which. It never means that a newer app prevents the
    ///   version from running: that is the error `usedByNewerApp`.
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion`,
    ///   `declaredOutOfOrder`, `managerClosed`, `nested`, `usedByNewerApp`, `tooOld`, `readOnly`,
    ///   `attemptLimitReached`, `lockTimeout`, `cancelled`, `stateUnreadable`, `stateCorrupted`,
    ///   `stateFromNewerFormat`, `protectionFailed`, `stateNotSaved`, or `migrationFailed` with the closure's
    ///   error as ``MigrationError/underlyingError``. Each of them closes the manager, except `nested` in a
    ///   plan, or of a second declaration while one of this manager is under way.
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

    /// Decides about a declaration by what the manager knows; `nil` if there is nothing to run.
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

    /// Reads the whole state, if only its history shows whether a version declared out of order has run.
    private func readWholeState(for text: String) throws(MigrationError) {
        guard declarations.withLock({ $0.needsWholeState(for: text) }) else { return }
        do throws(MigrationError) {
            let state = try stateOrAssumed(file.readState())
            declarations.withLock { $0.keepWholeState(state) }
        } catch {
            throw closed(by: error, declaring: text)
        }
    }

    /// Closes the manager because of an error that came before it was decided whether the version runs.
    ///
    /// - Returns: The error to throw.
    private func closed(by error: MigrationError, declaring text: String) -> MigrationError {
        let refusal = error.completed(declaring: AppVersion(text))
        declarations.withLock { $0.close(refusal) }
        return refusal
    }

    /// False if a rehearsal passes over the declaration, so that nothing is decided about it.
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
