extension MigrationGate {
    /// One start of the app: makes the gate follow its managers, and tells how far it is.
    public struct Start: Sendable {
        let gate: MigrationGate
        private let number: Int

        /// True if ``MigrationGate/retry()`` asked for this start after an error, as the user does with "Try again".
        ///
        /// Then `resetAttempts()` lets a migration run again that `attemptLimit` had refused. A gate that tries again by itself
        /// asks for nothing of the kind.
        public let isRetry: Bool

        init(_ gate: MigrationGate) {
            self.gate = gate
            (number, isRetry) = gate.contents.change { ($0.beginTry(), $0.isRetry) }
        }

        /// Changes the gate's contents while this try runs: an end is an end.
        private func tell(_ change: (inout Contents) -> Void) {
            gate.contents.change { if $0.runningTry == number { change(&$0) } }
        }

        /// Options of a manager whose events the gate follows; the handler that `options` has is called after it.
        public func options(_ options: MigrationManager.Options = .init()) -> MigrationManager.Options {
            var followed = options
            let handler = options.onEvent
            followed.onEvent = { event in
                tell { $0.apply(event) }
                handler?(event)
            }
            return followed
        }

        /// Plans the declarations, tells the gate how many are pending, and runs them.
        ///
        /// Where several managers migrate, plan each of them first, so that the bar begins with all of their work, and
        /// then call the declarations yourself.
        ///
        /// - Throws: The errors of ``plan(_:weights:_:)-7z4eb``, and nothing is run; the errors of the declarations.
        public func migrate(
            _ migrations: MigrationManager,
            weights: [String: UInt] = [:],
            _ declarations: (MigrationManager) throws -> Void
        ) throws {
            try plan(migrations, weights: weights, declarations)
            try declarations(migrations)
        }

        /// Plans and runs declarations with closures that are awaited.
        public nonisolated(nonsending) func migrate(
            _ migrations: MigrationManager,
            weights: [String: UInt] = [:],
            _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
        ) async throws {
            try await plan(migrations, weights: weights, declarations)
            try await declarations(migrations)
        }

        /// Plans the declarations of one manager, and tells the gate how many are pending.
        ///
        /// With `weights`, `["3.4": 30]`, 3.4 has the part of thirty others in the bar. A version that isn't named weighs 1.
        ///
        /// - Throws: ``RequiresAppVersion`` where a newer app shut this one out; what `MigrationManager.plan` throws; the error of
        ///   a row that is refused, so that nothing migrates before a manager that is; `invalidVersion` for a weight's.
        @discardableResult
        public func plan(
            _ migrations: MigrationManager,
            weights: [String: UInt] = [:],
            _ declarations: (MigrationManager) throws -> Void
        ) throws -> [PlannedMigration] {
            try refuseOlderApp(migrations)
            return try expect(migrations, migrations.plan(declarations), weights)
        }

        /// Plans declarations with closures that are awaited.
        @discardableResult
        public nonisolated(nonsending) func plan(
            _ migrations: MigrationManager,
            weights: [String: UInt] = [:],
            _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
        ) async throws -> [PlannedMigration] {
            try refuseOlderApp(migrations)
            return try expect(migrations, await migrations.plan(declarations), weights)
        }

        private func expect(
            _ migrations: MigrationManager,
            _ plan: [PlannedMigration],
            _ weights: [String: UInt]
        ) throws -> [PlannedMigration] {
            let known = try weights.map { (try AppVersion($0, manager: migrations.name), Double($1)) }
            let weights = Dictionary(known, uniquingKeysWith: max)
            if let error = plan.lazy.compactMap(\.error).first { throw error }
            let steps = plan.filter { $0.kind == .willRun }.map { row in
                (row.version, (weight: weights[row.version] ?? 1, progress: row.progress ?? 0))
            }
            tell {
                $0.steps[migrations.name] = Dictionary(steps) { first, _ in first }
                $0.expect(steps.map(\.1.weight))
            }
            return plan
        }

        /// Tells the gate of steps that no manager tells of, such as the pending files of an SQL migrator.
        ///
        /// Call it as soon as the number is known, best before anything runs: then the bar is shared among all steps, each
        /// of which weighs 1 here. A later call doesn't move the bar back. What is left of it is shared anew among the steps that
        /// aren't done. Call it between two steps: one that is under way would begin its share anew.
        public func expect(steps: Int) { tell { $0.expect(Array(repeating: 1, count: max(0, steps))) } }

        /// Tells how much of such a step is done, from 0 to 1.
        public func reportProgress(_ fraction: Double, note: String? = nil) {
            tell { $0.report(fraction, note) }
        }

        /// Tells that such a step is done.
        public func finishStep() { tell { $0.finishStep() } }

        private func refuseOlderApp(_ migrations: MigrationManager) throws {
            guard let version = migrations.requiredAppVersion else { return }
            throw RequiresAppVersion(version: version, managerName: migrations.name)
        }
    }
}
