public import AppMigrations

extension FleetMigrationManager {
    /// Plans the declarations without calling a closure: one row for each, in their order.
    ///
    /// It reads the store once, changes nothing and never closes the manager. Use the manager that is handed
    /// in.
    ///
    /// - Throws: `MigrationError` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`,
    ///   `cancelled` or `invalidVersion`, and what `declarations` throws itself.
    nonisolated(nonsending) public func plan(
        _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
    ) async throws -> [PlannedMigration] {
        let found = try await stored.read()
        let state = try known(found)
        // A first state that this manager assumed is no knowledge, once there is a state.
        let isKnown = found.state == nil || !isPresuming
        let known = isKnown ? self.declarations.withLock { $0 } : Declarations(state.versions, under: rules)
        return try await plan(declarations, by: state, in: found, known)
    }

    nonisolated(nonsending) func plan(
        _ body: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void,
        by state: MigrationState,
        in found: StoredState.Found,
        _ known: Declarations
    ) async throws -> [PlannedMigration] {
        declarations.withLock { $0.beginPlan() }
        // While its lease stands, an attempt is no death.
        let limit = found.isHeld ? nil : options.attemptLimit
        let plan = Plan(state, attemptLimit: limit, isStateAssumed: found.state == nil)
        let manager = FleetMigrationManager(place, launch: launch, known.observed(by: plan))
        let token = RunToken(place.token, isPlan: true)
        defer {
            token.end()
            manager.declarations.withLock { $0.endPlan() }
            declarations.withLock { $0.endPlan() }
        }
        try await RunToken.$current.withValue(token.openTokens) { try await body(manager) }
        return manager.declarations.withLock { $0.plannedRows }
    }
}

extension FleetMigrationManager {
    /// The status that the store has now: read again at each call.
    ///
    /// It changes nothing, and works for a closed manager too. Of an attempt whose lease stands it can't be
    /// told at a glance whether its host is alive: `MigrationStatus.Attempt.isUnderWay` is `nil` then, and
    /// the attempt no death. A manager that is asked again and again, by a probe for instance, sees a lease
    /// that nobody renews for its whole length: `isUnderWay` is `false` then, and `deaths` counts the
    /// attempt.
    ///
    /// - Throws: `MigrationError` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`
    ///   or `cancelled`.
    nonisolated(nonsending) public var status: MigrationStatus {
        get async throws(MigrationError) {
            let found = try await stored.read()
            return MigrationStatus(
                found.state,
                of: location,
                appVersion: currentVersion,
                isUnderWay: found.isHeld ? nil : false
            )
        }
    }
}
