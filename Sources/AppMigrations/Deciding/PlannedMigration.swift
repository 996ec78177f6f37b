/// A row of a plan: what a start would do about one declared version.
///
/// ``MigrationManager/plan(_:)-9ywei`` returns a row for each declared version.
public struct PlannedMigration: Sendable, CustomStringConvertible {
    /// The kind of row: whether the closure would run.
    ///
    /// More kinds can come with a later release: keep a `default` in a `switch`.
    public let kind: Kind

    /// The version declared.
    public let version: AppVersion

    /// How much an earlier attempt had done at its last checkpoint, from 0 to 1; `nil` if it didn't say.
    public let progress: Double?

    /// Why the version would be refused.
    ///
    /// Only rows of the kind ``Kind/refused`` have it.
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

    /// The version and the kind, for example `1.4 willRun`; for a refused row, its error too.
    public var description: String { error.map { "\(version) \(kind): \($0)" } ?? "\(version) \(kind)" }

    /// The kinds of ``PlannedMigration``.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, as it is written in Swift.
        public let description: String

        private init(_ name: StaticString) { description = name.description }

        /// Its closure would run.
        public static var willRun: Kind { Kind("willRun") }

        /// The version has run.
        ///
        /// Or it counts as run, because the history drops its oldest rows and may have dropped this one.
        public static var alreadyRun: Kind { Kind("alreadyRun") }

        /// The data was at this version, or beyond it, when the state was made or reset.
        public static var baseline: Kind { Kind("baseline") }

        /// There is no state yet.
        ///
        /// Given what `firstRun:` answers, the first run will add this version to the baseline, and its
        /// closure won't run.
        public static var noState: Kind { Kind("noState") }

        /// It is below the last-run version and isn't in the history: it was declared too late, and doesn't
        /// run.
        ///
        /// If it is declared with `outOfOrder: true`, it is ``willRun``.
        public static var missed: Kind { Kind("missed") }

        /// Declaring it would throw ``PlannedMigration/error``.
        public static var refused: Kind { Kind("refused") }
    }
}
