/// Writes down what a manager would do.
final class PlanRecorder: Sendable {
    let state: MigrationState
    private let known: StateMarks
    private let isFresh: Bool
    private let progress = Guarded(Progress())

    private struct Progress {
        var rows: [PlannedMigration] = []
        var previous = AppVersion.zero
        var firstRefusal: MigrationError?
    }

    /// `known` is what the manager that is asked knows of the state: a declaration up to its mark looks no further.
    init(_ state: MigrationState, _ known: StateMarks, isFresh: Bool) {
        self.state = state
        self.known = known
        self.isFresh = isFresh
    }

    deinit { progress.destroy() }

    var rows: [PlannedMigration] { progress.withLock { $0.rows } }

    func record(_ version: AppVersion, by manager: MigrationManager) {
        progress.withLock { progress in
            let decision = manager.decide(
                version,
                after: progress.previous,
                known,
                state.marks,
                isFresh: isFresh,
                limit: manager.options.attemptLimit
            )
            var refusal = manager.refusal(of: decision, version)
            if let first = progress.firstRefusal {
                refusal = .blocked(version, by: first, manager.file.location)
            }
            progress.firstRefusal = progress.firstRefusal ?? refusal
            let kind = refusal == nil ? kind(of: decision, version) : .refused
            progress.rows.append(PlannedMigration(kind: kind, version: version, error: refusal))
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
