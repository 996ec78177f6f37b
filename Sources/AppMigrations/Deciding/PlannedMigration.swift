/// A row of a plan: what a start would do about one declared version.
///
/// ``MigrationManager/plan(_:)-9ywei`` gives a row for each.
public struct PlannedMigration: Sendable, CustomStringConvertible {
    /// The kind of row: whether the closure would run.
    ///
    /// More kinds can come with a later release: keep a `default` in a `switch`.
    public let kind: Kind

    /// The version declared.
    public let version: AppVersion

    /// How much an earlier attempt had done at its last checkpoint, from 0 to 1; `nil` where it didn't say.
    public let progress: Double?

    /// Why the version would be refused; with ``Kind/refused``.
    public let error: MigrationError?

    /// Makes a row for the preview or the test of a screen that shows a plan.
    ///
    /// - Parameters:
    ///   - kind: Whether the closure would run.
    ///   - version: The version declared.
    ///   - progress: How much an earlier attempt had done at its last checkpoint, from 0 to 1.
    ///   - error: Why the version would be refused.
    public init(
        kind: Kind,
        version: AppVersion,
        progress: Double? = nil,
        error: MigrationError? = nil
    ) {
        self.kind = kind
        self.version = version
        self.progress = progress
        self.error = error
    }

    /// The version and the kind, for instance `1.4 willRun`; of a refused row its error too.
    public var description: String { error.map { "\(version) \(kind): \($0)" } ?? "\(version) \(kind)" }

    /// The kinds of ``PlannedMigration``.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, as it is written in Swift.
        public let description: String

        private init(_ name: StaticString) { description = name.description }

        /// Its closure would run.
        public static var willRun: Kind { Kind("willRun") }

        /// It ran here, or isn't above the rows that the history has lost, and counts as run.
        public static var alreadyRun: Kind { Kind("alreadyRun") }

        /// The data was at this version, or beyond it, when the state was made or reset.
        public static var baseline: Kind { Kind("baseline") }

        /// There is no state yet: the first run takes it for the baseline, as its `firstRun:` says, and its closure doesn't run.
        public static var noState: Kind { Kind("noState") }

        /// It lies below the last-run version and isn't in the history: it was declared too late, and isn't run.
        ///
        /// With `outOfOrder: true` it is ``willRun``.
        public static var missed: Kind { Kind("missed") }

        /// Declaring it would throw ``PlannedMigration/error``.
        public static var refused: Kind { Kind("refused") }
    }
}

/// The source of a plan's rows: the state, read again, and the limit of attempts.
package final class Plan: Sendable {
    let state: MigrationState
    let limit: Int?
    /// True if there is no state yet, so that the plan shows what a first run would do.
    private let isPresumed: Bool

    package init(_ state: MigrationState, limit: Int?, isPresumed: Bool) {
        (self.state, self.limit, self.isPresumed) = (state, limit, isPresumed)
    }

    func kind(of decision: MigrationDecision, _ version: AppVersion) -> PlannedMigration.Kind {
        switch decision {
        case .run: return .willRun
        case .joinsBaseline: return isPresumed ? .noState : .baseline
        default: break
        }
        if state.history.contains(where: { $0.version == version }) { return .alreadyRun }
        if version <= state.marks.baseline { return isPresumed ? .noState : .baseline }
        return version <= state.droppedVersion ? .alreadyRun : .missed
    }
}
