extension MigrationManager {
    /// Returns what each declared migration would do, without running any.
    ///
    /// The result has one row for each declaration, in the order of the declarations.
    ///
    /// It reads the state again, changes nothing and never closes the manager. Inside `declarations`, use the
    /// manager that is passed to it. Any other manager of the same state throws `nested` there if one of its
    /// migrations would run. A version that would be refused gets a row of the kind `refused`, and so does
    /// every version after it, as in a real start.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`
    ///   or `invalidVersion`, and the errors that `declarations` throws itself.
    public func plan(_ declarations: (MigrationManager) throws -> Void) throws -> [PlannedMigration] {
        let (manager, token) = try beginPlan()
        defer { endPlan(of: manager, token: token) }
        try RunToken.$current.withValue(token.openTokens) { try declarations(manager) }
        return manager.declarations.withLock { $0.plannedRows }
    }

    /// Plans asynchronous declarations without calling a closure: one row for each, in their order.
    ///
    /// Plans as ``plan(_:)-9ywei`` does, on the caller's actor.
    nonisolated(nonsending) public func plan(
        _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
    ) async throws -> [PlannedMigration] {
        let (manager, token) = try beginPlan()
        defer { endPlan(of: manager, token: token) }
        try await RunToken.$current.withValue(token.openTokens) { try await declarations(manager) }
        return manager.declarations.withLock { $0.plannedRows }
    }

    private func beginPlan() throws(MigrationError) -> (MigrationManager, RunToken) {
        let found = try file.readState()
        let state = try stateOrAssumed(found)
        var attemptLimit = options.attemptLimit
        do throws(SystemCallError) {
            // An attempt that is under way is not a death. Only the lock shows whether its process is alive.
            if attemptLimit != nil, let interrupted = state.versions.interruption, interrupted.failure == nil,
                try Platform.isLocked(location.lock)
            {
                attemptLimit = nil
            }
        } catch {
            throw .unreadable(error, at: location)
        }
        let plan = Plan(state, attemptLimit: attemptLimit, isStatePresumed: found == nil)
        let planned = declarations.withLock { declarations in
            declarations.beginPlan()
            // A read-only manager that found no state works with an assumed one. If a state file exists by
            // now, use the file instead.
            let current =
                found != nil && assumesState ? Declarations(state.versions, under: rules) : declarations
            return current.observed(by: plan)
        }
        let manager = MigrationManager(like: self, declarations: planned)
        return (manager, RunToken(location, isPlan: true))
    }

    private func endPlan(of manager: MigrationManager, token: RunToken) {
        token.end()
        manager.declarations.withLock { $0.endPlan() }
        declarations.withLock { $0.endPlan() }
    }

    /// The status of this manager, read from the state file now.
    ///
    /// Each call reads the file again.
    ///
    /// It changes nothing, and works even for a closed manager, in a closure, and after a newer app has used
    /// the data. If there is no state, the status says so. To find out whether a migration is running or its
    /// process died, this takes the lock for a moment, if it is free. During that moment, other processes
    /// can't take it.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable`, `stateCorrupted` or
    ///   `stateFromNewerFormat`.
    public var status: MigrationStatus {
        get throws(MigrationError) {
            var state = try file.readState()
            var isUnderWay: Bool? = false
            while let interrupted = state?.versions.interruption, interrupted.failure == nil {
                do throws(SystemCallError) {
                    isUnderWay = try Platform.isLocked(location.lock)
                } catch {
                    isUnderWay = nil
                }
                if isUnderWay == true { break }
                // The process may have recorded its migration before the lock was tried.
                let again = try file.readState()
                if again == state { break }
                state = again
            }
            return MigrationStatus(
                state,
                of: location,
                appVersion: currentVersion,
                isUnderWay: isUnderWay
            )
        }
    }

    /// The state that was found, or the one that a read-only manager assumes if there is none.
    func stateOrAssumed(_ found: MigrationState?) throws(MigrationError) -> MigrationState {
        if let found { return found }
        guard assumesState else { throw .gone(location) }
        return MigrationState(name: name, versions: declarations.withLock { $0.versions })
    }

    /// True if this manager is read-only and found no state.
    ///
    /// In that case, it works with the state that a first run would create.
    private var assumesState: Bool { location.isReadOnly && launch == .first }
}
