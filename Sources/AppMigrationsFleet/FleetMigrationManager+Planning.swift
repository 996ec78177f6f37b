public import AppMigrations

extension FleetMigrationManager {
    /// Plans the declarations without calling a closure: one row for each, in their order.
    ///
    /// It reads the store once, changes nothing and never closes the manager. Use the manager that is handed in.
    ///
    /// - Throws: `MigrationError` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`, `cancelled` or
    ///   `invalidVersion`, and what `declarations` throws itself.
    nonisolated(nonsending) public func plan(
        _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
    ) async throws -> [PlannedMigration] {
        let (found, isHeld) = try await look()
        let isPresumed = options.isReadOnly && launch == .first
        let state = try known(found)
        // A first state that this manager assumed is no knowledge, once there is a state.
        let known =
            found.state != nil && isPresumed
            ? Declarations(state.marks, release) : self.declarations.withLock { $0 }
        return try await plan(declarations, by: state, isHeld: isHeld, known, isPresumed: found.state == nil)
    }

    nonisolated(nonsending) func plan(
        _ body: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void,
        by found: MigrationState,
        isHeld: Bool,
        _ known: Declarations,
        isPresumed: Bool = false
    ) async throws -> [PlannedMigration] {
        var state = found
        // While its lease stands, an attempt is no death.
        if isHeld { state.marks.interruption?.failure = "It is under way." }
        declarations.withLock { $0.beginPlan() }
        let recorder = PlanRecorder(state, known, limit: options.attemptLimit, isPresumed: isPresumed)
        let manager = FleetMigrationManager(
            like: self,
            planner: recorder,
            Declarations(state.marks, isObserved: true, release)
        )
        let token = token(isPlan: true)
        defer {
            token.end()
            manager.declarations.withLock { $0.closeAfterPlan() }
            declarations.withLock { $0.endPlan() }
        }
        try await RunToken.$current.withValue(token) { try await body(manager) }
        return recorder.rows
    }
}
