public import AppMigrations

extension FleetMigrationManager {
    /// Runs `run` on one host of the fleet, once in the life of the data, when the app moves past
    /// `toVersion`.
    ///
    /// The closure runs before the call returns, on the caller's actor. If another host is migrating, the
    /// call waits for it, up to `lockTimeout` if you set one. Cancelling the task ends the wait. If the store
    /// can't be read during the wait, the call tries again for the length of a lease. If the version has run
    /// already, the call doesn't use the store.
    ///
    /// While the closure runs, the lease is renewed. If the host can't renew it for half of its length, other
    /// hosts will soon treat this host as crashed. So the closure's task is cancelled, nothing is recorded,
    /// and the call throws `leaseLost`.
    ///
    /// - Parameters:
    ///   - toVersion: A version, or a sub-migration of a version (`1.1-2`). It must be above the version that
    ///     was declared before it, and must not be above the app's version. An app of version 1.1 may declare
    ///     its sub-migrations too, such as `1.1-2`.
    ///   - addedIn: The first release of the main line that has this migration, for a migration that a hotfix
    ///     of an older line brought, as in `MigrationManager`. Then the version also runs below the last-run
    ///     version, once. If the library can't tell whether it has run, it runs. So its closure has to check
    ///     whether its work is already done.
    ///   - minimumAppVersion: The oldest app that can still use the data once this migration has begun. It is
    ///     saved before the closure runs. After that, ``requiredAppVersion`` isn't `nil` in older apps. It
    ///     can't be above `toVersion` or `addedIn`, whichever is higher. `nil` says nothing about older apps,
    ///     which go on running during a rolling deploy.
    ///   - run: The work. After an error, a crash or a lost lease it runs again, so make it repeatable.
    /// - Returns: True if the closure ran on this host. False if the version has run already on any host,
    ///   belongs to the baseline, or was missed. A missed version is below the last-run version, never ran,
    ///   and isn't declared with `addedIn:`. ``plan(_:)`` says which of these it is.
    /// - Throws: `MigrationError` with the code `invalidVersion`, `newerThanCurrentVersion`,
    ///   `declaredOutOfOrder`, `managerClosed`, `nested`, `usedByNewerApp`, `tooOld`, `readOnly`,
    ///   `attemptLimitReached`, `lockTimeout`, `cancelled`, `leaseLost`, `stateBehind`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `stateNotSaved`, or `migrationFailed` with the closure's
    ///   error as its `underlyingError`. If the closure throws an error of the client library that the store
    ///   uses, the `underlyingError` is an `SQLError` with the server's message. The client's error is the
    ///   `underlyingError` of that `SQLError`. The code `usedByNewerApp` means that a newer release has begun
    ///   a version above this app's version. Every error closes the manager, with two exceptions, both with
    ///   the code `nested`: the call was made in a plan, or before the previous declaration had ended.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        run: nonisolated(nonsending) () async throws -> Void
    ) async throws(MigrationError) -> Bool {
        try await perform(
            Declaration(toVersion, addedIn: addedIn, minimumAppVersion: minimumAppVersion)
        ) { attempt async throws(MigrationError) in
            try await attempt.finish(await attempt.call(run))
        }
    }

    /// Runs `run` with its context on one host of the fleet, once in the life of the data, when the app moves
    /// past `toVersion`.
    ///
    /// Use it if the closure needs its attempt or its ``FleetMigrationContext/fence``, reports progress or
    /// saves checkpoints.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        run: nonisolated(nonsending) (FleetMigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        try await perform(
            Declaration(toVersion, addedIn: addedIn, minimumAppVersion: minimumAppVersion)
        ) { attempt async throws(MigrationError) in
            try await attempt.finish(await attempt.call { try await run(attempt.context) })
        }
    }

    /// Decides about a declaration from the versions that this manager has read.
    ///
    /// Returns `nil` if no closure has to be called: a plan only notes the declaration, and a read-only
    /// manager completes it here.
    nonisolated(nonsending) func declare(
        _ declaration: Declaration
    ) async throws(MigrationError) -> DeclaredMigration? {
        let isPlanned = try declarations.withLock { declarations throws(MigrationError) in
            try declarations.addRow(for: declaration)
        }
        if isPlanned { return nil }
        // A plan passes another manager to its closure. This manager must not be used there.
        if try RunToken.enclosing(configuration.token) != nil {
            let version = declaration.version
            throw .nested(version, in: location).leaving(.migration(version))
        }
        if declarations.withLock({ $0.needsHistory(for: declaration) }) {
            let applied = try await state(for: declaration).appliedVersions(at: location)
            declarations.withLock { $0.keepHistory(applied) }
        }
        let declared = try declarations.withLock { declarations throws(MigrationError) in
            try declarations.declare(declaration)
        }
        guard let declared, options.isReadOnly else { return declared }
        let state = try await state(for: declaration)
        try declarations.withLock { declarations throws(MigrationError) in
            try declarations.endReadOnly(declared, in: state)
        }
        return nil
    }

    /// Reads the state once more for a declaration; closes the manager if that fails.
    nonisolated(nonsending) private func state(
        for declaration: Declaration
    ) async throws(MigrationError) -> MigrationState {
        do throws(MigrationError) {
            return try await stateOrAssumed(in: repository.read())
        } catch {
            throw declarations.withLock { $0.close(error.leaving(.migration(declaration.version))) }
        }
    }
}
