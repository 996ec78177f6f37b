/// The facts from which the rows of a plan are made: the state, which was read for the plan, and the limit of
/// attempts.
package final class Plan: Sendable {
    let applied: AppliedVersions
    let attemptLimit: Int?

    /// True if there is no state yet, so that the plan shows what a first run would do.
    private let isStateAssumed: Bool

    var versions: StateVersions { applied.versions }

    package init(_ applied: AppliedVersions, attemptLimit: Int?, isStateAssumed: Bool) {
        self.applied = applied
        self.attemptLimit = attemptLimit
        self.isStateAssumed = isStateAssumed
    }

    /// The kind of the row for `version`.
    func kind(of decision: Decision, about version: AppVersion) -> PlannedMigration.Kind {
        let baselineKind: PlannedMigration.Kind = isStateAssumed ? .noState : .baseline
        switch decision {
        case .run: return .willRun
        case .joinsBaseline: return baselineKind
        case .alreadyRun: break
        }
        if applied.recorded.contains(version) { return .alreadyRun }
        if version <= versions.baseline { return baselineKind }
        return version <= applied.dropped ? .alreadyRun : .missed
    }
}
