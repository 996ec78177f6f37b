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
    ///   - minimumAppVersion: The oldest app that can still use the data once this migration has begun. It is saved before the
    ///     closure runs, and apps below it have a ``requiredAppVersion`` from then on. At most `toVersion`; `nil` says nothing about
    ///     older apps. In a rolling deploy these go on running.
    ///   - run: What is to be done. It can be run again after a death, a throw or a lost lease, so make it repeatable.
    /// - Returns: Whether the closure ran here. `false` means that the version has run already, on whichever host, or belongs to
    ///   the baseline; in a start whose ``launch`` is `downgrade(from:)`, that nothing runs.
    /// - Throws: `MigrationError` with the code `invalidVersion`, `newerThanCurrentVersion`, `outOfOrder`, `blocked`, `nested`,
    ///   `overtaken`, `tooOld`, `readOnly`, `attemptLimitReached`, `lockTimeout`, `cancelled`, `leaseLost`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `stateNotSaved`, or `migrationFailed` with the closure's error as its
    ///   `underlyingError`. The manager is closed then.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        minimumAppVersion: String? = nil,
        run: nonisolated(nonsending) () async throws -> Void
    ) async throws(MigrationError) -> Bool {
        if passes(toVersion, minimumAppVersion) { return false }
        guard let admission = try await admit(toVersion, minimumAppVersion) else { return false }
        return try await perform(admission) { attempt async throws(MigrationError) in
            try await attempt.finish(await attempt.call { _ in try await run() })
        }
    }

    /// Runs `run` with its context on one host of the fleet, once in the life of the data, when the app moves past `toVersion`.
    ///
    /// The same as `whenMigrating(toVersion:minimumAppVersion:run:)`, for a closure that wants to know its attempt or its
    /// ``FleetMigrationContext/fence``, to report progress or to save checkpoints.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        minimumAppVersion: String? = nil,
        run: nonisolated(nonsending) (FleetMigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        if passes(toVersion, minimumAppVersion) { return false }
        guard let admission = try await admit(toVersion, minimumAppVersion) else { return false }
        return try await perform(admission) { attempt async throws(MigrationError) in
            try await attempt.finish(await attempt.call(run))
        }
    }

    /// A declaration that has something to run, as far as is known.
    struct Admission {
        let version: AppVersion
        let minimumAppVersion: AppVersion
        let ticket: Declarations.Ticket
    }

    /// Passes a version over that has run already, without suspending the task; `false` where a closer look is needed.
    func passes(_ text: String, _ minimumAppVersion: String?) -> Bool {
        minimumAppVersion == nil && declarations.pass(text)
    }

    /// Decides about a declaration by what is known; `nil` when there is nothing to run.
    nonisolated(nonsending) func admit(
        _ text: String,
        _ minimumAppVersion: String?
    ) async throws(MigrationError) -> Admission? {
        let enclosing = enclosing
        let declared: DeclaredVersion
        do throws(MigrationError) {
            declared = try DeclaredVersion(text, minimumAppVersion: minimumAppVersion, location)
        } catch {
            throw declarations.withLock { declarations in
                if planner == nil { return declarations.closing(error, location) }
                return declarations.firstFailure.map { .blocked(nil, by: $0, location) } ?? error
            }
        }
        let version = declared.version
        if let enclosing, enclosing.isPlan { throw .nested(location, version) }
        if let planner {
            try declarations.withLock { declarations throws(MigrationError) in
                try declarations.requireOpen(version, location)
            }
            planner.record(version, refusing: declared.refusal)
            return nil
        }
        let ticket = try declarations.withLock { declarations throws(MigrationError) in
            try declarations.admit(
                version,
                current: currentVersion,
                minimumAppVersion: declared.minimumAppVersion,
                isAsynchronous: true,
                location,
                refusing: enclosing == nil ? declared.refusal : .nested(location, version)
            )
        }
        guard let ticket else { return nil }
        let admission = Admission(
            version: version,
            minimumAppVersion: declared.minimumAppVersion,
            ticket: ticket
        )
        if !options.isReadOnly { return admission }
        try await look(at: admission)
        return nil
    }

    /// Ends a declaration of a manager that only looks: another host may have run it meanwhile.
    private func look(at admission: Admission) async throws(MigrationError) {
        defer { leave(admission) }
        let version = admission.version
        do throws(MigrationError) {
            let state = try await known(stored.read())
            let decision = declarations.withLock {
                $0.decide(version, state.marks, current: currentVersion, limit: nil)
            }
            if case .run = decision { throw MigrationError.readOnly(location, version) }
            if let refusal = MigrationError.refusal(of: decision, version, current: currentVersion, location)
            {
                throw refusal
            }
        } catch {
            declarations.withLock { $0.close(error) }
            throw error
        }
    }
}
