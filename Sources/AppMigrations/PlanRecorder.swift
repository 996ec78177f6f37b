/// Writes down what a manager would do.
package final class PlanRecorder: Sendable {
    let state: MigrationState
    private let known: Declarations
    private let current: AppVersion
    private let limit: Int?
    private let location: StateLocation
    private let progress = Guarded(Progress())

    private struct Progress {
        package var rows: [PlannedMigration] = []
        var previous = AppVersion.zero
        var firstRefusal: MigrationError?
    }

    /// `known` is what the manager that is asked knows of the state: a declaration up to its mark looks no further.
    package init(
        _ state: MigrationState,
        _ known: Declarations,
        current: AppVersion,
        limit: Int?,
        _ location: StateLocation
    ) {
        self.state = state
        self.known = known
        self.current = current
        self.limit = limit
        self.location = location
    }

    deinit { progress.destroy() }

    package var rows: [PlannedMigration] { progress.withLock { $0.rows } }

    package func record(_ version: AppVersion, refusing floorRefusal: MigrationError? = nil) {
        progress.withLock { progress in
            let decision = known.decide(
                version,
                after: progress.previous,
                state.marks,
                current: current,
                limit: limit
            )
            var refusal =
                floorRefusal
                ?? MigrationError.refusal(of: decision, version, current: current, location)
            if let first = progress.firstRefusal { refusal = .blocked(version, by: first, location) }
            progress.firstRefusal = progress.firstRefusal ?? refusal
            let kind = refusal == nil ? kind(of: decision, version) : .refused
            let done =
                version > state.marks.lastRun ? state.marks.attempts(at: version)?.checkpoint?.progress : nil
            progress.rows.append(
                PlannedMigration(kind: kind, version: version, progress: done, error: refusal)
            )
            progress.previous = max(progress.previous, version)
        }
    }

    private func kind(of decision: MigrationDecision, _ version: AppVersion) -> PlannedMigration.Kind {
        switch decision {
        case .run: .willRun
        case .joinsBaseline: .baseline
        case .heldByDowngrade: .heldByDowngrade
        default: pastKind(of: version)
        }
    }

    private func pastKind(of version: AppVersion) -> PlannedMigration.Kind {
        if state.history.contains(where: { $0.version == version }) { return .alreadyRun }
        if version <= state.marks.baseline { return .baseline }
        return state.mayHaveForgotten(version) ? .alreadyRun : .missed
    }
}
