extension MigrationGate {
    /// One attempt to start the app, which the gate passes to its start closure.
    ///
    /// Its ``options(_:)`` let the gate observe a manager, and its other methods tell the gate about
    /// progress.
    public struct Start: Sendable {
        let gate: MigrationGate
        private let number: Int

        /// True if ``MigrationGate/retry()`` requested this attempt after an error, for example from a "Try
        /// Again" button.
        ///
        /// If it is true, call `resetAttempts()`, so that a migration that was refused because of
        /// `attemptLimit` can run again. It is false if the gate tries again by itself.
        public let isRetry: Bool

        init(_ gate: MigrationGate) {
            self.gate = gate
            let start = gate.contents.change { (number: $0.beginAttempt(), isRetry: $0.isRetry) }
            number = start.number
            isRetry = start.isRetry
        }

        /// Changes the gate's contents, unless this attempt has ended.
        private func changeContents(_ change: (inout Contents) -> Void) {
            gate.contents.change { if $0.currentAttempt == number { change(&$0) } }
        }

        /// Returns options for a manager that let the gate observe the manager's events.
        ///
        /// If `options` has an event handler, it is called after the gate's own handler.
        public func options(_ options: MigrationManager.Options = .init()) -> MigrationManager.Options {
            var followed = options
            let handler = options.onEvent
            followed.onEvent = { event in
                changeContents { $0.apply(event) }
                handler?(event)
            }
            return followed
        }

        /// Plans the declared migrations, tells the gate how many are pending, and runs them.
        ///
        /// If there are several managers, call ``plan(_:weights:_:)-7z4eb`` for all of them first. That way,
        /// the progress bar covers the work of all managers from the beginning. Then call the declarations
        /// yourself.
        ///
        /// - Throws: The errors of ``plan(_:weights:_:)-7z4eb``, before anything runs. After that, the errors
        ///   of the declarations.
        public func migrate(
            _ migrations: MigrationManager,
            weights: [String: UInt] = [:],
            _ declarations: (MigrationManager) throws -> Void
        ) throws {
            try plan(migrations, weights: weights, declarations)
            try declarations(migrations)
        }

        /// Plans and runs declarations with async closures.
        public nonisolated(nonsending) func migrate(
            _ migrations: MigrationManager,
            weights: [String: UInt] = [:],
            _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
        ) async throws {
            try await plan(migrations, weights: weights, declarations)
            try await declarations(migrations)
        }

        /// Plans the migrations that are declared with one manager, and tells the gate how many are pending.
        ///
        /// With `weights: ["3.4": 30]`, version 3.4 gets thirty times as much of the progress bar as each
        /// version that isn't in `weights`. The weights apply only to this manager.
        ///
        /// - Throws: ``RequiresAppVersion`` if a newer release of the app has saved a minimum app version
        ///   that is above the version of this app. ``MigrationError`` with the code `invalidVersion` for a
        ///   version in `weights`. The errors of `MigrationManager.plan`. If the plan contains a refused
        ///   migration, its error is thrown here, before any migration runs.
        @discardableResult
        public func plan(
            _ migrations: MigrationManager,
            weights: [String: UInt] = [:],
            _ declarations: (MigrationManager) throws -> Void
        ) throws -> [PlannedMigration] {
            try requireSupportedAppVersion(migrations)
            return try addSteps(migrations.plan(declarations), of: migrations, weights: weights)
        }

        /// Plans asynchronous declarations, and tells the gate how many migrations are pending.
        @discardableResult
        public nonisolated(nonsending) func plan(
            _ migrations: MigrationManager,
            weights: [String: UInt] = [:],
            _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
        ) async throws -> [PlannedMigration] {
            try requireSupportedAppVersion(migrations)
            let plan = try await migrations.plan(declarations)
            return try addSteps(plan, of: migrations, weights: weights)
        }

        private func addSteps(
            _ plan: [PlannedMigration],
            of migrations: MigrationManager,
            weights: [String: UInt]
        ) throws -> [PlannedMigration] {
            let manager = migrations.name
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

        /// Tells the gate about steps that no manager reports, such as the pending files of an SQL migrator.
        ///
        /// Each of these steps has weight 1. Call this method as soon as you know the number of steps, if
        /// possible before anything runs, so that all steps share the whole progress bar.
        ///
        /// A later call doesn't move the progress bar back: all unfinished steps share its remaining part.
        /// Call this method between two steps, because during a step it would discard the progress of that
        /// step.
        public func expect(steps: Int) {
            changeContents { $0.addSteps(weights: Array(repeating: 1, count: max(0, steps))) }
        }

        /// Reports how much of the current step is done, from 0 to 1, for a step that was added with
        /// ``expect(steps:)``.
        public func reportProgress(_ fraction: Double, note: String? = nil) {
            changeContents { $0.reportProgress(fraction, note: note) }
        }

        /// Reports that the current step, which was added with ``expect(steps:)``, is finished.
        public func finishStep() { changeContents { $0.finishStep() } }

        private func requireSupportedAppVersion(_ migrations: MigrationManager) throws {
            guard let version = migrations.requiredAppVersion else { return }
            throw RequiresAppVersion(version: version, managerName: migrations.name)
        }
    }
}
