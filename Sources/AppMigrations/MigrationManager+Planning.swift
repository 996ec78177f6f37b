extension MigrationManager {
    /// Returns what each declared migration would do, without running any.
    ///
    /// The result has one row for each declaration, in the order of the declarations.
    ///
    /// This call reads the state again, changes nothing and never closes the manager. In the closure
    /// `declarations`, use only the manager that the closure gets. If another manager of the same state
    /// declares a migration there that would have to run, that declaration throws `nested`.
    ///
    /// A version that would be refused gets a row of the kind `refused`. Every version after it gets one too,
    /// because a real start would stop there.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`
    ///   or `invalidVersion`, and the errors that `declarations` throws itself.
    public func plan(_ declarations: (MigrationManager) throws -> Void) throws -> [PlannedMigration] {
        try plan(readStateAndLock(), declarations)
    }

    /// Plans from a state that was just read.
    ///
    /// If `isFresh` is true, the plan is the one that a new manager would return. Otherwise it begins with
    /// the versions that this manager knows.
    func plan(
        _ found: FoundState,
        isFresh: Bool = false,
        _ declarations: (MigrationManager) throws -> Void
    ) throws -> [PlannedMigration] {
        let (manager, token) = try beginPlan(found, isFresh: isFresh)
        defer { endPlan(of: manager, token: token) }
        try RunToken.$current.withValue(token.openTokens) { try declarations(manager) }
        return manager.declarations.withLock { $0.plannedRows }
    }

    /// Returns what each asynchronously declared migration would do, without running any.
    ///
    /// It does the same as ``plan(_:)-9ywei``, on the caller's actor.
    nonisolated(nonsending) public func plan(
        _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
    ) async throws -> [PlannedMigration] {
        try await plan(readStateAndLock(), declarations)
    }

    /// Plans asynchronous declarations from a state that was just read.
    nonisolated(nonsending) func plan(
        _ found: FoundState,
        isFresh: Bool = false,
        _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
    ) async throws -> [PlannedMigration] {
        let (manager, token) = try beginPlan(found, isFresh: isFresh)
        defer { endPlan(of: manager, token: token) }
        try await RunToken.$current.withValue(token.openTokens) { try await declarations(manager) }
        return manager.declarations.withLock { $0.plannedRows }
    }

    private func beginPlan(
        _ foundState: FoundState,
        isFresh: Bool
    ) throws(MigrationError) -> (MigrationManager, RunToken) {
        let (found, isUnderWay) = foundState
        let state = try stateOrAssumed(found)
        var attemptLimit = options.attemptLimit
        do throws(SystemCallError) {
            // An attempt that is still running doesn't count as a crash, so the limit isn't applied.
            if attemptLimit != nil, try isUnderWay.get() { attemptLimit = nil }
        } catch {
            throw .unreadable(error, at: location)
        }
        let plan = Plan(
            try state.appliedVersions(at: location),
            attemptLimit: attemptLimit,
            isStateAssumed: found == nil
        )
        let planned = declarations.withLock { declarations in
            declarations.beginPlan()
            // A read-only manager that found no state works with the state that a first run would create. If
            // a state file has been created since then, use that file instead.
            let isFresh = isFresh || found != nil && assumesState
            let current = isFresh ? Declarations(state.versions, under: rules) : declarations
            return current.observed(by: plan)
        }
        let manager = MigrationManager(like: self, declarations: planned)
        return (manager, RunToken(location, isPlan: true))
    }

    private func endPlan(of manager: MigrationManager, token: RunToken) {
        token.end()
        manager.declarations.withLock { $0.endPlan() }
        declarations.withLock { $0.resumeAfterPlan() }
    }

    /// Returns the state that was found.
    ///
    /// If there is none, a read-only manager returns the state that a first run would create. Any other
    /// manager throws `stateUnreadable`.
    func stateOrAssumed(_ found: MigrationState?) throws(MigrationError) -> MigrationState {
        if let found { return found }
        guard assumesState else { throw .gone(location) }
        return MigrationState(name: name, versions: declarations.withLock { $0.versions })
    }

    /// True if this manager is read-only and found no state when it was created.
    ///
    /// In that case, it works with the state that a first run would create.
    private var assumesState: Bool { options.isReadOnly && launch == .first }
}
