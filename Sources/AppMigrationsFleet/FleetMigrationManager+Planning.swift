public import AppMigrations

extension FleetMigrationManager {
    /// Returns what each declaration would do, in the order of the declarations, without calling a closure.
    ///
    /// It reads the store once, changes nothing and never closes the manager. `declarations` must declare
    /// with the manager that is passed to it.
    ///
    /// - Throws: `MigrationError` with the code `stateUnreadable`, `stateBehind` (there is no state any
    ///   more), `stateCorrupted`, `stateFromNewerFormat`, `cancelled` or `invalidVersion`, and the errors of
    ///   `declarations` itself.
    nonisolated(nonsending) public func plan(
        _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
    ) async throws -> [PlannedMigration] {
        let found = try await repository.read()
        let state = try stateOrAssumed(in: found)
        // If this manager has assumed a first state, but the store has a state now, use the state in the
        // store.
        let base =
            hasAssumedState && found.state != nil
            ? Declarations(state.versions, under: rules) : self.declarations.withLock { $0 }
        return try await plan(declarations, from: base, state: state, found: found)
    }

    /// Calls `body` with a manager that runs nothing, and returns a row for each declaration that `body`
    /// makes.
    ///
    /// `base` has the versions and the rules that decide about each declaration. `state` is the state in the
    /// store. If the store has no state, a read-only manager passes the state that a first run would create.
    /// `found` says whether a host has the lease.
    nonisolated(nonsending) func plan(
        _ body: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void,
        from base: Declarations,
        state: MigrationState,
        found: StateRepository.Found
    ) async throws -> [PlannedMigration] {
        declarations.withLock { $0.beginPlan() }
        // An attempt whose lease has not expired doesn't count as a crash.
        let limit = found.isLeaseHeld ? nil : options.attemptLimit
        let plan = Plan(
            try state.appliedVersions(at: location),
            attemptLimit: limit,
            isStateAssumed: found.state == nil
        )
        let manager = FleetMigrationManager(
            configuration,
            launch: launch,
            declarations: base.observed(by: plan)
        )
        let token = RunToken(configuration.token, isPlan: true)
        defer {
            token.end()
            manager.declarations.withLock { $0.endPlan() }
            declarations.withLock { $0.resumeAfterPlan() }
        }
        try await RunToken.$current.withValue(token.openTokens) { try await body(manager) }
        return manager.declarations.withLock { $0.plannedRows }
    }
}

extension FleetMigrationManager {
    /// The current status in the store, which is read at each call.
    ///
    /// It changes nothing, and works for a closed manager too. One read can't tell whether the host of an
    /// attempt is still running. So `UnfinishedMigration.isUnderWay` is `nil`, and `crashCount` doesn't count
    /// the attempt. ``observedStatus()`` waits until it can tell. If you ask the same manager repeatedly, for
    /// example in a probe, it notices that nobody has renewed the lease for its whole length. Then
    /// `isUnderWay` is `false`, and `crashCount` counts the attempt.
    ///
    /// - Throws: `MigrationError` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`
    ///   or `cancelled`.
    nonisolated(nonsending) public var status: MigrationStatus {
        get async throws(MigrationError) {
            let found = try await repository.read()
            return try status(in: found, isUnderWay: found.isLeaseHeld ? nil : false)
        }
    }

    /// Waits until it is clear whether the host of an attempt is still alive, and returns the status.
    ///
    /// If no host has a lease, this method reads the store once, as ``status`` does. Otherwise it reads the
    /// store again and again. It writes nothing.
    ///
    /// - If the host renews its lease, `UnfinishedMigration.isUnderWay` is `true`. A host renews its
    ///   lease after a sixth of the lease's length, so after about 5 seconds by default.
    /// - If nobody renews the lease for its whole length, `isUnderWay` is `false`, and `crashCount` counts
    ///   the attempt. By default that takes 30 seconds. The host has probably ended, and the next host that
    ///   declares the version takes over.
    ///
    /// Use this method in a command for an operator, and not in a probe.
    ///
    /// - Throws: The errors of ``status``.
    nonisolated(nonsending) public func observedStatus() async throws(MigrationError) -> MigrationStatus {
        let first = try await repository.read()
        var found = first
        while found.isLeaseHeld, found.revision == first.revision {
            do { try await clock.pause(.milliseconds(500)) } catch {
                throw location.cancelled("while the lease of \(location) was observed", because: error)
            }
            found = try await repository.read()
        }
        return try status(in: found, isUnderWay: found.isLeaseHeld)
    }

    private func status(
        in found: StateRepository.Found,
        isUnderWay: Bool?
    ) throws(MigrationError) -> MigrationStatus {
        var holder: [String] = []
        if let lease = found.lease {
            holder = ["  Host: \(lease.owner). \(Self.sign(of: lease, isUnderWay: isUnderWay))"]
        }
        return try MigrationStatus(
            found.state,
            of: location,
            appVersion: currentVersion,
            isUnderWay: isUnderWay,
            heldBy: holder
        )
    }

    /// What a status says about the life of the host that has the lease.
    private static func sign(of lease: Lease, isUnderWay: Bool?) -> String {
        let length = lease.length / .seconds(1)
        return switch isUnderWay {
        case true?: "It is alive: it has just renewed its lease."
        case false?:
            "It hasn't renewed its lease for \(length) s. Its process has probably ended. The next host takes over."
        case nil: "Its lease expires \(length) s after its last renewal."
        }
    }
}
