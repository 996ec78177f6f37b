public import AppMigrations

extension FleetMigrationManager {
    /// Runs `run` on one host of the fleet, once in the life of the data, when the app moves past `toVersion`.
    ///
    /// The closure runs before the call returns, on the caller's actor. Another host that is migrating is waited for, without
    /// bound unless `lockTimeout` gives one, and cancelling the task ends the wait. A store that can't be read meanwhile is asked
    /// again for the length of a lease. Where the version has run already, the call asks nothing of the store.
    ///
    /// While the closure runs the lease is renewed. A host that can't renew it for half of its length is about to be taken for
    /// dead: the closure's task is cancelled then, nothing is recorded, and the call throws `leaseLost`.
    ///
    /// - Parameters:
    ///   - toVersion: The version, or the sub-migration of one (`1.1-2`); strictly after the one declared before it, and
    ///     not after the app's. A sub-migration counts by its release.
    ///   - outOfOrder: True if the version also runs below the last-run version, once, where it hasn't run: for one that a hotfix
    ///     brought after a later version was released. If the version lies above the baseline, the store is read once more.
    ///   - minimumAppVersion: The oldest app that can still use the data once this migration has begun. It is saved before the
    ///     closure runs, and apps below it have a ``requiredAppVersion`` from then on. At most `toVersion`; `nil` says nothing about
    ///     older apps. In a rolling deploy these go on running.
    ///   - run: The work. It can be run again after a death, a throw or a lost lease, so make it repeatable.
    /// - Returns: True if the closure ran here. `false` means that the version has run already, on whichever host, belongs to
    ///   the baseline, or was missed: it lies below the last-run version, never ran, and isn't declared with `outOfOrder: true`.
    ///   ``plan(_:)`` says which. A version that a newer release has begun to go beyond is the error `usedByNewerApp`.
    /// - Throws: `MigrationError` with the code `invalidVersion`, `newerThanCurrentVersion`, `declaredOutOfOrder`, `managerClosed`, `nested`,
    ///   `usedByNewerApp`, `tooOld`, `readOnly`, `attemptLimitReached`, `lockTimeout`, `cancelled`, `leaseLost`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `stateNotSaved`, or `migrationFailed` with the closure's error as its
    ///   `underlyingError`. An error of the client that also connects the store is an `SQLError` there, with what the server
    ///   said, and the client's error is the `underlyingError` of that one. The manager is closed then, unless the error is the `nested` of a plan, or of a second declaration while
    ///   one of this manager is under way.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        run: nonisolated(nonsending) () async throws -> Void
    ) async throws(MigrationError) -> Bool {
        try await perform(
            toVersion,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        ) { attempt async throws(MigrationError) in
            try await attempt.finish(await attempt.call(run))
        }
    }

    /// Runs `run` with its context on one host of the fleet, once in the life of the data, when the app moves past `toVersion`.
    ///
    /// Declares a migration for a closure that wants to know its attempt or its
    /// ``FleetMigrationContext/fence``, to report progress or to save checkpoints.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        run: nonisolated(nonsending) (FleetMigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        try await perform(
            toVersion,
            outOfOrder: outOfOrder,
            minimumAppVersion: minimumAppVersion
        ) { attempt async throws(MigrationError) in
            try await attempt.finish(await attempt.call { try await run(attempt.context) })
        }
    }

    /// Decides about a declaration by what is known; `nil` when there is nothing to run.
    nonisolated(nonsending) func declare(
        _ text: String,
        outOfOrder: Bool,
        minimumAppVersion: String?
    ) async throws(MigrationError) -> Declarations.Declaration? {
        let isPlanned = try declarations.withLock { declarations throws(MigrationError) in
            try declarations.addRow(for: text, outOfOrder: outOfOrder, minimumAppVersion: minimumAppVersion)
        }
        if isPlanned { return nil }
        // The manager that was asked for a plan is not the one that the plan hands out.
        if try RunToken.enclosing(place.token) != nil {
            let version = AppVersion(text)
            throw .nested(version, in: location).completed(declaring: version)
        }
        if outOfOrder { try await readWholeState(for: text) }
        let declaration = try declarations.withLock { declarations throws(MigrationError) in
            try declarations.declare(text, outOfOrder: outOfOrder, minimumAppVersion: minimumAppVersion)
        }
        guard let declaration, options.isReadOnly else { return declaration }
        try await look(at: declaration)
        return nil
    }

    /// Reads the state once more, if only its history says whether a version that is declared out of order has run.
    nonisolated(nonsending) private func readWholeState(for text: String) async throws(MigrationError) {
        guard declarations.withLock({ $0.needsWholeState(for: text) }) else { return }
        do throws(MigrationError) {
            let state = try await known(stored.read())
            declarations.withLock { $0.keepWholeState(state) }
        } catch {
            let refusal = error.completed(declaring: AppVersion(text))
            declarations.withLock { $0.close(refusal) }
            throw refusal
        }
    }

    /// Ends a declaration of a manager that only looks.
    nonisolated(nonsending) private func look(
        at declaration: Declarations.Declaration
    ) async throws(MigrationError) {
        do throws(MigrationError) {
            let state = try await known(stored.read())
            try declarations.withLock { declarations throws(MigrationError) in
                try declarations.endReadOnly(declaration, in: state)
            }
        } catch {
            let refusal = error.completed(declaring: declaration.version)
            declarations.withLock { $0.close(refusal) }
            throw refusal
        }
    }
}
