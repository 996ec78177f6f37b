/// The facts from which the rows of a plan are made: the state, which was read for the plan, and the limit of
/// attempts.
package final class Plan: Sendable {
    let state: MigrationState
    let attemptLimit: Int?

    /// True if there is no state yet, so that the plan shows what a first run would do.
    private let isStateAssumed: Bool

    package init(_ state: MigrationState, attemptLimit: Int?, isStateAssumed: Bool) {
        self.state = state
        self.attemptLimit = attemptLimit
        self.isStateAssumed = isStateAssumed
    }

    /// The kind of the row for `version`.
    func kind(of decision: MigrationDecision, about version: AppVersion) -> PlannedMigration.Kind {
        let baselineKind: PlannedMigration.Kind = isStateAssumed ? .noState : .baseline
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
