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

    /// A manager that only writes down what `manager` would do.
    private convenience init(planning manager: MigrationManager, for planner: PlanRecorder) {
        let core = Core(marks: planner.state.marks, isFresh: false, fastLimit: .zero)
        self.init(like: manager, for: Witness(planner: planner), core: core)
    }

    func beginPlan() throws(MigrationError) -> (PlanRecorder, MigrationManager, RunToken) {
        guard var state = try file.readState() else { throw .gone(file.location) }
        // Only the lock tells an attempt that is under way from one whose process died.
        if options.attemptLimit != nil, let interrupted = state.marks.interrupted, interrupted.failure == nil,
            try FileLock.isTaken(file.location)
        {
            state.marks.interrupted?.failure = "It is under way."
        }
        let folder: FileIdentity?
        do throws(SystemCallError) {
            folder = try Platform.identity(ofFolder: file.location.directory)
        } catch {
            throw .unreadable(error, file.location)
        }
        let (known, isFresh) = core.withLock { core in
            core.plansUnderWay += 1
            core.settle(currentVersion)
            return (core.marks, core.isFresh)
        }
        let recorder = PlanRecorder(state, known, isFresh: isFresh)
        let manager = MigrationManager(planning: self, for: recorder)
        return (recorder, manager, RunToken(file.location, .plan(folder: folder)))
    }

    func endPlan(_ manager: MigrationManager, _ token: RunToken) {
        token.end()
        // Kept and declared with, it would pass over every migration without a word.
        manager.core.withLock { $0.close(.planEnded(file.location)) }
        core.withLock { core in
            core.plansUnderWay -= 1
            core.settle(currentVersion)
        }
    }
}
