extension MigrationManager {
    /// Runs an asynchronous closure, once in the life of this data, when the app moves past `toVersion`.
    ///
    /// The same as ``whenMigrating(toVersion:minimumAppVersion:protecting:run:)-7s1es``; the closure runs on the
    /// caller's actor, waiting for another process suspends the task, and cancelling the task ends the wait with the
    /// code `cancelled`.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: nonisolated(nonsending) () async throws -> Void
    ) async throws(MigrationError) -> Bool {
        guard let admission = try admit(toVersion, minimumAppVersion, isAsynchronous: true) else { return false }
        return try await perform(admission, protecting: paths) { _ in try await run() }
    }

    /// Runs an asynchronous closure with its context, once in the life of this data, when the app moves past `toVersion`.
    ///
    /// The same as ``whenMigrating(toVersion:minimumAppVersion:protecting:run:)-35tyw``, on the
    /// caller's actor.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        guard let admission = try admit(toVersion, minimumAppVersion, isAsynchronous: true) else { return false }
        return try await perform(admission, protecting: paths, run)
    }

    /// What asynchronous declarations would do now, without calling a closure: one row for each, in their order.
    ///
    /// The same as ``plan(_:)-9ywei``, on the caller's actor.
    nonisolated(nonsending) public func plan(
        _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
    ) async throws -> [PlannedMigration] {
        let (recorder, manager, token) = try beginPlan()
        defer { endPlan(manager, token) }
        try await RunToken.$current.withValue(token) { try await declarations(manager) }
        return recorder.rows
    }

    @inline(never)
    private nonisolated(nonsending) func perform(
        _ admission: Admission,
        protecting paths: [String],
        _ body: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        defer { leave(admission) }
        var begun: Begun?
        do throws(MigrationError) {
            let locked = try await LockedState.take(
                asynchronously: file,
                reporter,
                timeout: options.lockTimeout,
                for: admission.version,
                turn: { turn(of: admission) },
                isWanted: { () throws(MigrationError) in try requireOpen(admission) }
            )
            guard let attempt = try begin(admission, protecting: paths, locked) else { return false }
            let listed = Platform.awake
            while let pause = try attempt.pauseForOthers(
                since: listed,
                timeout: options.lockTimeout,
                isAsynchronous: true
            ) {
                // Cancelled: the next look throws.
                do { try await Task.sleep(nanoseconds: Platform.nanoseconds(pause)) } catch {}
            }
            try attempt.begin()
            begun = (attempt.context, locked.identity, nil)
            let failure = await attempt.call(body)
            begun?.duration = attempt.duration
            try finish(attempt, failure)
            return true
        } catch {
            fail(begun, error)
            throw error
        }
    }
}
