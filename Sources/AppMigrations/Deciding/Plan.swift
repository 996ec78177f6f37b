/// The facts from which a plan's rows are made: the state, read again, and the limit of attempts.
package final class Plan: Sendable {
    let state: MigrationState
    let attemptLimit: Int?

    /// True if there is no state yet, so that the plan shows what a first run would do.
    private let isStatePresumed: Bool

    package init(_ state: MigrationState, attemptLimit: Int?, isStatePresumed: Bool) {
        self.state = state
        self.attemptLimit = attemptLimit
        self.isStatePresumed = isStatePresumed
    }

    /// The kind of row for a decision about `version`.
    func kind(of decision: MigrationDecision, about version: AppVersion) -> PlannedMigration.Kind {
        let baselineKind: PlannedMigration.Kind = isStatePresumed ? .noState : .baseline
        switch decision {
        case .run: return .willRun
        case .joinsBaseline: return baselineKind
        case .alreadyRun: break
        }
        if state.history.contains(where: { $0.version == version }) { return .alreadyRun }
        if version <= state.versions.baseline { return baselineKind }
        return version <= state.droppedVersion ? .alreadyRun : .missed
    }
}
