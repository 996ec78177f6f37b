extension MigrationGate {
    /// One attempt to start the app, which the gate passes to its start closure.
    ///
    /// Its ``options(_:)`` let the gate observe a manager, and its other methods tell the gate about
    /// progress.
    public struct Attempt: Sendable {
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
            (number, isRetry) = gate.contents.change { ($0.beginAttempt(), $0.isRetry) }
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
        /// If there are several managers, call ``plan(_:weights:_:)-4gor0`` for all of them first. That way,
        /// the progress bar covers the work of all managers from the beginning. Then call the declarations
        /// yourself.
        ///
        /// - Throws: The errors of ``plan(_:weights:_:)-4gor0``, before anything runs. After that, the errors
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
        /// version that isn't in `weights`. These weights apply only to this manager.
        ///
        /// `weights` can also have the note of a ``step(_:_:)-5db37``, such as `"Search index": 5`. That step
        /// then has its part of the bar from the beginning, beside the migrations that run before it. A key
        /// that begins with a digit is a version, and any other key is a note.
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
            if let error = plan.lazy.compactMap(\.error).first { throw error }
            var steps = [StartProgress.Step: StartProgress.Pending]()
            for row in plan where row.kind == .willRun {
                steps[.migration(manager: migrations.name, row.version)] = .init(
                    checkpoint: row.progress ?? 0
                )
            }
            for (key, weight) in weights {
                if key.first?.isNumber == true {
                    let version = try AppVersion(parsing: key)
                    steps[.migration(manager: migrations.name, version)]?.weight = Double(weight)
                } else {
                    steps[.own(key)] = .init(weight: Double(weight))
                }
            }
            changeContents { $0.add(steps) }
            return plan
        }

        /// Runs a step of the start that isn't a migration, and shows its progress and its note.
        ///
        /// ```swift
        /// try start.step("Search index") {
        ///     try updateSearchIndex { start.reportProgress($0) }
        /// }
        /// ```
        ///
        /// The step shares the part of the bar that is left with the migrations and steps that are still
        /// pending. After the last of them the bar is full, so name a long step in the `weights:` of
        /// ``plan(_:weights:_:)-4gor0`` or ``migrate(_:weights:_:)-7k6l``.
        ///
        /// The step is finished when `body` returns. If `body` throws, the bar stays where it is. Steps run
        /// one after the other.
        public func step<Value>(_ note: String, _ body: () throws -> Value) rethrows -> Value {
            changeContents { $0.changeProgress { $0.beginStep(note) } }
            let value = try body()
            changeContents { $0.changeProgress { $0.finishStep(note) } }
            return value
        }

        /// Runs an asynchronous step of the start that isn't a migration.
        public nonisolated(nonsending) func step<Value>(
            _ note: String,
            _ body: nonisolated(nonsending) () async throws -> Value
        ) async rethrows -> Value {
            changeContents { $0.changeProgress { $0.beginStep(note) } }
            let value = try await body()
            changeContents { $0.changeProgress { $0.finishStep(note) } }
            return value
        }

        /// Reports how much of the running step is done, from 0 to 1.
        ///
        /// Without a note, the last one stays, which is that of the step at first.
        public func reportProgress(_ fraction: Double, note: String? = nil) {
            changeContents { $0.changeProgress { $0.reportProgress(fraction, note: note) } }
        }

        private func requireSupportedAppVersion(_ migrations: MigrationManager) throws {
            guard let version = migrations.requiredAppVersion else { return }
            throw RequiresAppVersion(version: version, managerName: migrations.name)
        }
    }
}
