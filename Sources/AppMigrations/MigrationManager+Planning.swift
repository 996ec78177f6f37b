extension MigrationManager {
    /// Plans the declarations without calling a closure: one row for each, in their order.
    ///
    /// It reads the state again, changes nothing and never closes the manager. Use the manager that is handed in: another
    /// one of the same state that has something to run throws `nested` inside. A version that would be refused gets a row of the kind `refused`,
    /// and so does every one after it, as in a real start.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat` or
    ///   `invalidVersion`, and what `declarations` throws itself.
    public func plan(_ declarations: (MigrationManager) throws -> Void) throws -> [PlannedMigration] {
        let (manager, token) = try beginPlan()
        defer { endPlan(manager, token) }
        try RunToken.$current.withValue(token.opened) { try declarations(manager) }
        return manager.declarations.withLock { $0.plannedRows }
    }

    /// Plans asynchronous declarations without calling a closure: one row for each, in their order.
    ///
    /// Plans as ``plan(_:)-9ywei`` does, on the caller's actor.
    nonisolated(nonsending) public func plan(
        _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
    ) async throws -> [PlannedMigration] {
        let (manager, token) = try beginPlan()
        defer { endPlan(manager, token) }
        try await RunToken.$current.withValue(token.opened) { try await declarations(manager) }
        return manager.declarations.withLock { $0.plannedRows }
    }

    private func beginPlan() throws(MigrationError) -> (MigrationManager, RunToken) {
        let found = try file.readState()
        let state = try known(found)
        var limit = options.attemptLimit
        do throws(SystemCallError) {
            // Only the lock tells an attempt that is under way, which is no death, from an attempt whose process died.
            if limit != nil, let interrupted = state.marks.interruption, interrupted.failure == nil,
                try Platform.isLocked(file.location.lock)
            {
                limit = nil
            }
        } catch {
            throw .unreadable(error, at: file.location)
        }
        let plan = Plan(state, limit: limit, isPresumed: found == nil)
        let known = declarations.withLock { declarations in
            declarations.beginPlan()
            // A first state that this manager assumed is no knowledge, once there is a state.
            let known = found != nil && isPresuming ? Declarations(state.marks, release) : declarations
            return known.observed(by: plan)
        }
        return (MigrationManager(like: self, known), RunToken(file.location, isPlan: true))
    }

    private func endPlan(_ manager: MigrationManager, _ token: RunToken) {
        token.end()
        manager.declarations.withLock { $0.endPlan() }
        declarations.withLock { $0.endPlan() }
    }

    /// The status of the state now: read again from the file, at each call.
    ///
    /// It changes nothing, and works for a closed manager too, in a closure, and where a newer app was here. Where there is no
    /// state, the status says so. A look at the lock tells a migration that is under way from one whose process died; it keeps no
    /// other process from it for longer than that look.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable`, `stateCorrupted` or `stateFromNewerFormat`.
    public var status: MigrationStatus {
        get throws(MigrationError) {
            var state = try file.readState()
            var isUnderWay: Bool? = false
            while let interrupted = state?.marks.interruption, interrupted.failure == nil {
                do throws(SystemCallError) {
                    isUnderWay = try Platform.isLocked(file.location.lock)
                } catch {
                    isUnderWay = nil
                }
                if isUnderWay == true { break }
                // The process may have recorded its migration before the lock was looked at.
                let again = try file.readState()
                if again == state { break }
                state = again
            }
            return MigrationStatus(state, of: file.location, current: currentVersion, isUnderWay: isUnderWay)
        }
    }

    /// The state as it stands, or as this manager takes it to be where there is none yet.
    func known(_ found: MigrationState?) throws(MigrationError) -> MigrationState {
        if let found { return found }
        guard isPresuming else { throw .gone(file.location) }
        return MigrationState(name: name, marks: declarations.withLock { $0.marks })
    }

    /// True if there was no state, and none was made.
    var isPresuming: Bool { file.location.isReadOnly && launch == .first }
}
