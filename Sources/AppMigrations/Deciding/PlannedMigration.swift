/// A row of a plan: what a start would do about one declared version.
///
/// ``MigrationManager/plan(_:)-9ywei`` returns a row for each declared version.
public struct PlannedMigration: Sendable, CustomStringConvertible {
    /// The kind of row: whether the closure would run.
    ///
    /// A later release of this library can add kinds, so a `switch` needs a `default`.
    public let kind: Kind

    /// The version declared.
    public let version: AppVersion

    /// How much of the work an earlier attempt had done at its last checkpoint, from 0 to 1; `nil` if the
    /// attempt saved no progress.
    public let progress: Double?

    /// Why the version would be refused.
    ///
    /// Only rows of the kind ``Kind/refused`` have it.
    public let error: MigrationError?

    /// Makes a row for previews and tests of a screen that shows a plan.
    ///
    /// - Parameters:
    ///   - kind: Whether the closure would run.
    ///   - version: The version declared.
    ///   - progress: How much of the work an earlier attempt had done at its last checkpoint, from 0 to 1.
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

    /// The kind of a ``PlannedMigration``.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, as it is written in Swift.
        public let description: String

        private init(_ name: StaticString) { description = name.description }

        /// The closure would run.
        public static var willRun: Kind { Kind("willRun") }

        /// The migration has run.
        ///
        /// A migration without a row in the history can have this kind too. The history keeps only the newest
        /// rows, so a missing row doesn't prove that the migration never ran.
        public static var alreadyRun: Kind { Kind("alreadyRun") }

        /// The data was already at this version or a higher one when the state was created or reset.
        public static var baseline: Kind { Kind("baseline") }

        /// There is no state yet, and the first run will add this version to the baseline.
        ///
        /// The answer of `firstRun:` says that the data is at this version or a higher one. So the closure
        /// won't run.
        public static var noState: Kind { Kind("noState") }

        /// The version is below the last-run version, but its migration has never run on this data.
        ///
        /// It was added after a higher version had run, so the closure doesn't run. If it is declared with
        /// `addedIn:`, the closure runs and the kind is ``willRun``.
        public static var missed: Kind { Kind("missed") }

        /// The declaration would throw ``PlannedMigration/error``.
        public static var refused: Kind { Kind("refused") }
    }
}
