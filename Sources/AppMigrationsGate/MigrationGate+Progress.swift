public import AppMigrations

extension MigrationGate {
    /// What the start of an app tells its gate.
    public struct Progress: Sendable {
        let gate: MigrationGate

        /// Whether ``MigrationGate/retry()`` asked for this start after an error, as the user does with "Try again".
        ///
        /// Then `resetAttempts()` lets a migration run again that `attemptLimit` had refused. A gate that tries again by itself
        /// asks for nothing of the kind.
        public let isRetry: Bool

        init(_ gate: MigrationGate, isRetry: Bool) {
            self.gate = gate
            self.isRetry = isRetry
        }

        /// Options of a manager whose events the gate follows; the handler that `options` has is called after it.
        public func options(_ options: MigrationManager.Options = .init()) -> MigrationManager.Options {
            var followed = options
            let handler = options.onEvent
            // Not weak: the gate runs for as long as its start does.
            followed.onEvent = { [gate] event in
                gate.contents.withLock { $0.apply(event) }
                handler?(event)
            }
            return followed
        }

        /// Plans the declarations, tells the gate how many are pending, and runs them.
        ///
        /// Where several managers migrate, plan each of them first, so that the bar begins with all that is to be done, and
        /// then call the declarations yourself.
        ///
        /// - Throws: ``RequiresAppVersion`` where a newer app shut this one out, and nothing is run; what the declarations throw.
        public func migrate(
            _ migrations: MigrationManager,
            _ declarations: (MigrationManager) throws -> Void
        ) throws {
            try plan(migrations, declarations)
            try declarations(migrations)
        }

        /// The same for declarations with closures that are awaited.
        public nonisolated(nonsending) func migrate(
            _ migrations: MigrationManager,
            _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
        ) async throws {
            try await plan(migrations, declarations)
            try await declarations(migrations)
        }

        /// Plans the declarations of one manager, and tells the gate how many are pending.
        ///
        /// - Throws: ``RequiresAppVersion`` where a newer app shut this one out; what
        ///   `MigrationManager.plan` throws.
        @discardableResult
        public func plan(
            _ migrations: MigrationManager,
            _ declarations: (MigrationManager) throws -> Void
        ) throws -> [PlannedMigration] {
            try refuseOlderApp(migrations)
            let plan = try migrations.plan(declarations)
            expect(steps: plan.filter { $0.kind == .willRun }.count)
            return plan
        }

        /// The same for declarations with closures that are awaited.
        @discardableResult
        public nonisolated(nonsending) func plan(
            _ migrations: MigrationManager,
            _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
        ) async throws -> [PlannedMigration] {
            try refuseOlderApp(migrations)
            let plan = try await migrations.plan(declarations)
            expect(steps: plan.filter { $0.kind == .willRun }.count)
            return plan
        }

        /// Tells the gate of steps that no manager tells of, such as the pending files of an SQL migrator.
        ///
        /// Call it as soon as the number is known, best before anything runs: then the bar is shared evenly among all steps. A
        /// later call doesn't move the bar back. What is left of it is shared anew among the steps that aren't done. Call it
        /// between two steps: one that is under way would begin its share anew.
        public func expect(steps: Int) {
            gate.contents.withLock { $0.expect(max(0, steps)) }
        }

        /// Tells how much of such a step is done, from 0 to 1.
        public func report(_ fraction: Double, note: String? = nil) {
            gate.contents.withLock { $0.report(fraction, note) }
        }

        /// Tells that such a step is done.
        public func finishStep() {
            gate.contents.withLock { $0.finishStep() }
        }

        private func refuseOlderApp(_ migrations: MigrationManager) throws {
            guard let version = migrations.requiredAppVersion else { return }
            throw RequiresAppVersion(version: version, managerName: migrations.name)
        }
    }
}
