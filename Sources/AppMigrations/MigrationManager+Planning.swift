extension MigrationManager {
    /// What the declarations would do now, without calling a closure: one row for each, in their order.
    ///
    /// It reads the state again, changes nothing and never closes the manager. Use the manager that is handed in: another
    /// one of the same state throws `nested` inside. A version that would be refused gets a row of the kind `refused`,
    /// and so does every one after it, as in a real start.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat` or
    ///   `invalidVersion`, and what `declarations` throws itself.
    public func plan(_ declarations: (MigrationManager) throws -> Void) throws -> [PlannedMigration] {
        let (recorder, manager, token) = try beginPlan()
        defer { endPlan(manager, token) }
        try RunToken.$current.withValue(token) { try declarations(manager) }
        return recorder.rows
    }

    func beginPlan() throws(MigrationError) -> (PlanRecorder, MigrationManager, RunToken) {
        let found = try file.readState()
        var state = try known(found)
        // Only the lock tells an attempt that is under way from an attempt whose process died.
        if options.attemptLimit != nil, let interrupted = state.marks.interruption,
            interrupted.failure == nil,
            try isUnderWay()
        {
            state.marks.interruption?.failure = "It is under way."
        }
        let folder: FileIdentity?
        do throws(SystemCallError) {
            folder = try Platform.identity(ofFolder: file.location.directory)
        } catch {
            throw .unreadable(error, file.location)
        }
        let known = declarations.withLock { declarations in
            declarations.beginPlan(current: currentVersion)
            // What this manager took for its first state is no knowledge, once there is a state.
            return found != nil && isPresuming
                ? Declarations(observed: state.marks, isFresh: false) : declarations
        }
        let recorder = PlanRecorder(
            state,
            known,
            current: currentVersion,
            limit: options.attemptLimit,
            file.location
        )
        let manager = MigrationManager(
            like: self,
            for: Observer(planner: recorder),
            Declarations(observed: state.marks, isFresh: false)
        )
        return (recorder, manager, RunToken(file.location, .plan(folder: folder)))
    }

    func endPlan(_ manager: MigrationManager, _ token: RunToken) {
        token.end()
        // A manager that is kept after its plan would pass over every migration without a word, so it is closed.
        manager.declarations.withLock { $0.close(.planEnded(file.location)) }
        declarations.withLock { $0.endPlan(current: currentVersion) }
    }

    private func isUnderWay() throws(MigrationError) -> Bool {
        do throws(LockFailure) {
            return try isLocked()
        } catch {
            throw .lock(error, file.location)
        }
    }
}
