public import AppMigrations

extension FleetMigrationManager {
    /// What the declarations would do now, without calling a closure: one row for each, in their order.
    ///
    /// It reads the store once, changes nothing and never closes the manager. Use the manager that is handed in.
    ///
    /// - Throws: `MigrationError` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`, `cancelled` or
    ///   `invalidVersion`, and what `declarations` throws itself.
    nonisolated(nonsending) public func plan(
        _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
    ) async throws -> [PlannedMigration] {
        let found = try await stored.read()
        let isPresumed = options.isReadOnly && launch == .first
        let state = try known(found)
        // What this manager took for its first state is no knowledge, once there is a state.
        let known =
            found.state != nil && isPresumed
            ? Declarations(observed: state.marks, isFresh: false) : self.declarations.withLock { $0 }
        return try await plan(declarations, by: state, known)
    }

    /// Whether everything that is declared has run, so that this host may use the data; reads the store once.
    ///
    /// It is for hosts that leave the migrations to another one, and for a probe such as `/readyz`. Hand in the
    /// function that also declares the migrations where they run. `false` where there is no state yet, and while a
    /// migration is under way; `true` where the data is ahead: whether this app may still use it then is for
    /// ``requiredVersion`` to say.
    ///
    /// - Throws: `MigrationError` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat` or `cancelled`, that of a
    ///   declaration which no data could satisfy, `outOfOrder` for instance, and what `declarations` throws itself.
    nonisolated(nonsending) public func isMigrated(
        _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
    ) async throws -> Bool {
        try await isMigrated(declarations, by: stored.read())
    }

    nonisolated(nonsending) private func isMigrated(
        _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void,
        by found: StoredState.Found
    ) async throws -> Bool {
        guard let state = found.state else { return false }
        let rows = try await plan(
            declarations,
            by: state,
            Declarations(observed: state.marks, isFresh: false)
        )
        for row in rows { if let error = row.error { throw error } }
        return !rows.contains { $0.kind == .willRun }
    }

    /// Waits until ``isMigrated(_:)``, without writing anything.
    ///
    /// A store that can't be read meanwhile is asked again for the length of a lease, and what it threw last comes out then.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait; `nil` waits as long as it takes.
    ///   - declarations: The function that also declares the migrations where they run.
    /// - Throws: As ``isMigrated(_:)``, and `MigrationError` with the code `lockTimeout` or `cancelled`.
    nonisolated(nonsending) public func untilMigrated(
        timeout: Duration? = nil,
        _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
    ) async throws {
        var wait = wait(for: nil, timeout: timeout)
        while try await !isMigrated(declarations, by: wait.read(stored)) {
            if Task.isCancelled {
                throw MigrationError.cancelledWaiting(location, nil, holder: "the migrations")
            }
            try await wait.pause(for: "the host that migrates")
        }
    }

    nonisolated(nonsending) private func plan(
        _ body: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void,
        by found: MigrationState,
        _ known: Declarations
    ) async throws -> [PlannedMigration] {
        var state = found
        // While its lease stands, an attempt is no death.
        if state.marks.interrupted?.lease != nil { state.marks.interrupted?.failure = "It is under way." }
        declarations.withLock { $0.beginPlan(current: currentVersion) }
        let recorder = PlanRecorder(
            state,
            known,
            current: currentVersion,
            limit: options.attemptLimit,
            location
        )
        let manager = FleetMigrationManager(
            like: self,
            planner: recorder,
            Declarations(observed: state.marks, isFresh: false)
        )
        let token = token(.plan(folder: nil))
        defer {
            token.end()
            // A manager that is kept after its plan would pass over every migration without a word, so it is closed.
            manager.declarations.withLock { $0.close(.planEnded(location)) }
            declarations.withLock { $0.endPlan(current: currentVersion) }
        }
        try await RunToken.$current.withValue(token) { try await body(manager) }
        return recorder.rows
    }
}
