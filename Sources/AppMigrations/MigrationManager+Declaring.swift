extension MigrationManager {
    /// Runs `run` once for this data, when the app is updated to `toVersion` or a later version.
    ///
    /// The closure runs before the call returns, on the caller's thread. If the migration has run already,
    /// the call takes a few nanoseconds and makes no system call. In asynchronous code, Swift selects this
    /// overload if the closure has no `await`. This overload blocks the calling thread while another process
    /// is migrating.
    ///
    /// - Parameters:
    ///   - toVersion: A version (`1.1`), or one of several migrations in a version (`1.1-2`, a
    ///     sub-migration). It has to be above the version declared before it. It can't be above the app's
    ///     version; for this rule, `1.1-2` counts as `1.1`.
    ///   - outOfOrder: True if the migration also runs when its version is below the last-run version. It
    ///     then runs once, if it has never run on this data. Use it for a migration that was added in a
    ///     hotfix, after a later version had been released. If its version is above the baseline (the version
    ///     of the data when the state was created), each start reads the whole state file, history included.
    ///     The guide *Writing migrations* has the rules.
    ///   - minimumAppVersion: The oldest version of the app that can still use the data once this migration
    ///     has begun. It can't be above `toVersion`. It is saved before the closure runs. From then on, an
    ///     older app gets it as its `requiredAppVersion`, even if the closure fails. If the migration has
    ///     already run, or its version isn't above the baseline, its closure doesn't run. The minimum is
    ///     still saved if the state doesn't have it yet. If it is `nil`, older apps aren't limited.
    ///   - paths: Files and folders that are restored to what they were if the closure throws or its process
    ///     crashes, and that are synced to disk before the migration is recorded. A restore replaces each
    ///     file with its copy. So no process may have one of these files open. Name the files that the
    ///     closure changes. If there are hundreds of them, name their folder instead.
    ///   - run: The work. It runs again if it throws or its process crashes. So make it repeatable, or name
    ///     the files that it changes in `protecting:`. A closure that writes to other files has to
    ///     synchronize them before it returns, with ``MigrationContext/synchronize(_:)-([String])``.
    ///     Otherwise a power failure can lose its changes although the migration is recorded as done.
    /// - Returns: True if the closure ran. `false` means that the migration has run already, that its version
    ///   isn't above the baseline, or that it was missed: its version is below the last-run version, it never
    ///   ran on this data, and it isn't declared with `outOfOrder: true`. ``plan(_:)-9ywei`` says which.
    ///   `false` never means that a newer app keeps the migration from running: in that case, the call throws
    ///   `usedByNewerApp`.
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

    /// Runs `run`, which gets a context, once for this data, when the app is updated to `toVersion` or later.
    ///
    /// It does the same as ``whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)-9skx9``.
    /// Use it for a closure that needs the number of its attempt, reports progress or saves checkpoints.
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

    /// Runs an asynchronous closure once for this data, when the app is updated to `toVersion` or later.
    ///
    /// It does the same as ``whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)-9skx9``,
    /// and the closure runs on the caller's actor. While another process is migrating, the task is suspended.
    /// If the task is cancelled during that time, the call throws the code `cancelled`.
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

    /// Runs an asynchronous closure, which gets a context, once for this data, when the app is updated to
    /// `toVersion` or later.
    ///
    /// It does the same as ``whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)-6x6tk``.
    /// Use it for a closure that needs the number of its attempt, reports progress or saves checkpoints.
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

    /// Runs `run`, unless there is a reason not to run the migration.
    package func whenMigrating(
        toVersion: String,
        minimumAppVersion: String?,
        protecting paths: [String],
        unless reasonNotToRun: @escaping PendingMigration.ReasonNotToRun,
        run: (MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        let declaration = try declare(
            toVersion,
            minimumAppVersion: minimumAppVersion,
            mayNotHaveToRun: true
        )
        guard let declaration else { return false }
        return try perform(declaration, protecting: paths, unless: reasonNotToRun, run)
    }

    /// Runs an asynchronous closure, unless there is a reason not to run the migration.
    nonisolated(nonsending) package func whenMigrating(
        toVersion: String,
        minimumAppVersion: String?,
        protecting paths: [String],
        unless reasonNotToRun: @escaping PendingMigration.ReasonNotToRun,
        run: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        let declaration = try declare(
            toVersion,
            minimumAppVersion: minimumAppVersion,
            mayNotHaveToRun: true
        )
        guard let declaration else { return false }
        return try await perform(declaration, protecting: paths, unless: reasonNotToRun, run)
    }

    /// Decides whether the closure has to run, from the state that the manager has already read.
    ///
    /// Returns `nil` if the closure doesn't have to run.
    @inline(__always)
    private func declare(
        _ text: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String?,
        mayNotHaveToRun: Bool = false
    ) throws(MigrationError) -> Declarations.Declaration? {
        if minimumAppVersion == nil, !outOfOrder, let version = AppVersion(text),
            declarations.withLock({ $0.takeShortcut(for: version) })
        {
            return nil
        }
        return try declareWithoutShortcut(
            text,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion,
            mayNotHaveToRun: mayNotHaveToRun
        )
    }

    private func declareWithoutShortcut(
        _ text: String,
        outOfOrder: Bool,
        minimumAppVersion: String?,
        mayNotHaveToRun: Bool
    ) throws(MigrationError) -> Declarations.Declaration? {
        let isPlanned = try declarations.withLock { declarations throws(MigrationError) in
            try declarations.addRow(
                for: text,
                outOfOrder: outOfOrder,
                minimumAppVersion: minimumAppVersion,
                mayNotHaveToRun: mayNotHaveToRun
            )
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
        guard try rehearsalAllows(text, outOfOrder: outOfOrder) else { return nil }
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

    /// Reads the whole state if only the history tells whether a migration has run that is declared with
    /// `outOfOrder: true`.
    private func readWholeState(for text: String) throws(MigrationError) {
        guard declarations.withLock({ $0.needsWholeState(for: text) }) else { return }
        do throws(MigrationError) {
            let state = try stateOrAssumed(file.readState())
            declarations.withLock { $0.keepWholeState(state) }
        } catch {
            throw closed(by: error, declaring: text)
        }
    }

    /// True if the migration of a version up to the last-run version has run, or counts as having run.
    ///
    /// It is false for a version that was missed: it is below the last-run version, and never ran on this
    /// data. Reads the whole state.
    package func hasRun(_ version: AppVersion) throws(MigrationError) -> Bool {
        try stateOrAssumed(file.readState()).hasRun(version)
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

    /// False if a rehearsal uses this manager and skips this declaration.
    ///
    /// Throws if the rehearsal has the manager stop before this declaration.
    private func rehearsalAllows(_ text: String, outOfOrder: Bool) throws(MigrationError) -> Bool {
        guard let rehearsal, let version = AppVersion(text) else { return true }
        switch rehearsal.declared(version, outOfOrder: outOfOrder) {
        case .continue: return true
        case .skip: return false
        case .stop:
            throw declarations.withLock { $0.closeForRehearsal(before: version) }
        }
    }
}
