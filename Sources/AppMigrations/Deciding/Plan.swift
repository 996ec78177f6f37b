/// The source of a plan's rows: the state, read again, and the limit of attempts.
package final class Plan: Sendable {
    let state: MigrationState
    let limit: Int?
    /// True if there is no state yet, so that the plan shows what a first run would do.
    private let isPresumed: Bool

    package init(_ state: MigrationState, limit: Int?, isPresumed: Bool) {
        self.state = state
        self.limit = limit
        self.isPresumed = isPresumed
    }

    func kind(of decision: MigrationDecision, _ version: AppVersion) -> PlannedMigration.Kind {
        switch decision {
        case .run: return .willRun
        case .joinsBaseline: return isPresumed ? .noState : .baseline
        case .heldByDowngrade: return .heldByDowngrade
        default: break
        }
        if state.history.contains(where: { $0.version == version }) { return .alreadyRun }
        return version > state.marks.baseline ? .missed : isPresumed ? .noState : .baseline
    }
}

extension Declarations {
    package var plannedRows: [PlannedMigration] { rows ?? [] }

    /// Adds a row to the plan.
    ///
    /// A refusal gets a row, and closes as in a real start: so does each row after it.
    mutating func record(
        _ text: String,
        minimumAppVersion floor: String?,
        in plan: Plan
    ) throws(MigrationError) {
        let declaration = try read(text, minimumAppVersion: floor)
        let (version, marks) = (declaration.version, plan.state.marks)
        var kind = PlannedMigration.Kind.refused
        var refusal: MigrationError?
        do throws(MigrationError) {
            if let firstFailure { throw .blocked(version, by: firstFailure, release.location) }
            let decision = try decide(declaration, marks, after: previous, limit: plan.limit)
            kind = plan.kind(of: decision, version)
        } catch {
            refusal = error
            close(error)
        }
        previous = max(previous, version)
        let done = version > marks.lastRun ? marks.attempts(at: version)?.checkpoint?.progress : nil
        rows?.append(PlannedMigration(kind: kind, version: version, progress: done, error: refusal))
    }
}
