extension MigrationGate {
    /// One try to start the app.
    ///
    /// It lets the gate follow the managers, and reports progress.
    public struct Start: Sendable {
        let gate: MigrationGate
        private let number: Int

        /// True if ``MigrationGate/retry()`` requested this try after an error, for example by a button "Try
        /// again".
        ///
        /// Call `resetAttempts()` then, so that a migration that `attemptLimit` refused can run again. It is
        /// false if the gate tries again by itself.
        public let isRetry: Bool

        init(_ gate: MigrationGate) {
            self.gate = gate
            let start = gate.contents.change { (number: $0.beginTry(), isRetry: $0.isRetry) }
            number = start.number
            isRetry = start.isRetry
        }

        /// Changes the gate's contents, unless this try has ended.
        private func changeContents(_ change: (inout Contents) -> Void) {
            gate.contents.change { if $0.runningTry == number { change(&$0) } }
        }

        /// Returns options for a manager, so that the gate follows its events.
        ///
        /// The handler of `options` is called after the gate's.
        public func options(_ options: MigrationManager.Options = .init()) -> MigrationManager.Options {
            var followed = options
            let handler = options.onEvent
            followed.onEvent = { event in
                changeContents { $0.apply(event) }
                handler?(event)
            }
            return followed
        }

        /// Plans the declarations, reports to the gate how many are pending, and runs them.
        ///
        /// If several managers migrate, plan each of them first, so that the progress bar begins with all of
        /// their work. Then call the declarations yourself.
        ///
        /// - Throws: The errors of ``plan(_:weights:_:)-7z4eb``, before anything is run; then the errors of
        ///   the declarations.
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

        /// Plans the declarations of one manager, and reports to the gate how many are pending.
        ///
        /// With the `weights` `["3.4": 30]`, 3.4 gets as much of the progress bar as thirty other versions. A
        /// version without a weight has the weight 1.
        ///
        /// - Throws: ``RequiresAppVersion`` if a newer app excluded this one. The errors of
        ///   `MigrationManager.plan`. The error of the first refused row, which is thrown here so that it
        ///   comes before any migration runs. `invalidVersion` for a version in `weights`.
        @discardableResult
        public func plan(
            _ migrations: MigrationManager,
            weights: [String: UInt] = [:],
            _ declarations: (MigrationManager) throws -> Void
        ) throws -> [PlannedMigration] {
            try refuseOlderApp(migrations)
            return try addSteps(of: migrations.plan(declarations), manager: migrations.name, weights: weights)
        }

        /// Plans declarations with closures that are awaited.
        @discardableResult
        public nonisolated(nonsending) func plan(
            _ migrations: MigrationManager,
            weights: [String: UInt] = [:],
            _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
        ) async throws -> [PlannedMigration] {
            try refuseOlderApp(migrations)
            let plan = try await migrations.plan(declarations)
            return try addSteps(of: plan, manager: migrations.name, weights: weights)
        }

        private func addSteps(
            of plan: [PlannedMigration],
            manager: String,
            weights: [String: UInt]
        ) throws -> [PlannedMigration] {
            let namedWeights = try weights.map {
                (try AppVersion($0, of: "key of weights:", manager: manager), Double($1))
            }
            let weights = Dictionary(namedWeights, uniquingKeysWith: max)
            if let error = plan.lazy.compactMap(\.error).first { throw error }
            let steps = plan.filter { $0.kind == .willRun }.map { row in
                (row.version, Contents.Step(weight: weights[row.version] ?? 1, progress: row.progress ?? 0))
            }
            changeContents {
                $0.steps[manager] = Dictionary(steps) { first, _ in first }
                $0.addSteps(weights: steps.map(\.1.weight))
            }
            return plan
        }

        /// Reports to the gate steps that no manager reports, such as the pending files of an SQL migrator.
        ///
        /// Call it as soon as the number is known, if possible before anything runs. Then all steps share the
        /// progress bar; each of these steps has the weight 1.
        ///
        /// A later call doesn't move the bar back: the steps that aren't finished share the rest of it. Call
        /// it between two steps: during a step it would discard the progress of that step.
        public func expect(steps: Int) {
            changeContents { $0.addSteps(weights: Array(repeating: 1, count: max(0, steps))) }
        }

        /// Reports how much of such a step is done, from 0 to 1.
        public func reportProgress(_ fraction: Double, note: String? = nil) {
            changeContents { $0.reportProgress(fraction, note: note) }
        }

        /// Reports that such a step is finished.
        public func finishStep() { changeContents { $0.finishStep() } }

        private func refuseOlderApp(_ migrations: MigrationManager) throws {
            guard let version = migrations.requiredAppVersion else { return }
            throw RequiresAppVersion(version: version, managerName: migrations.name)
        }
    }
}
