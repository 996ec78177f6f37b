/// What a manager keeps between starts.
struct MigrationState: Equatable {
    static var format: Int { 1 }
    static var historyLimit: Int { 1_000 }
    static var failureLimit: Int { 1_000 }

    var name: String
    var marks: StateMarks
    var history: [AppliedMigration] = []

    /// The state after `row` was applied: the only way in which the mark rises by a migration.
    ///
    /// `earlier` is the interruption that this migration's own took the place of: its attempts still count when it has its
    /// turn again.
    func recording(_ row: AppliedMigration, after earlier: Interruption? = nil) -> MigrationState {
        var next = self
        next.marks.lastRun = max(marks.lastRun, row.version)
        next.marks.launched = max(marks.launched, row.appVersion)
        next.marks.interrupted = earlier.flatMap { $0.version > row.version ? $0 : nil }
        next.history.append(row)
        if next.history.count > Self.historyLimit {
            next.history.removeFirst(next.history.count - Self.historyLimit)
        }
        return next
    }
}

/// A migration whose closure was begun and isn't recorded.
struct Interruption: Equatable, Sendable {
    var version: AppVersion
    /// How often the closure was begun, this time included.
    var attempts: Int
    /// How many processes of `appVersion` died in it before this one.
    var deaths: Int
    /// The paths that a snapshot holds, and which are to be put back.
    var protected: [String]
    var appVersion: AppVersion
    var startedAt: Int64
    /// The error that ended the attempt; `nil` while the closure runs, or when its process died.
    var failure: String?
}

/// A migration that ran and was recorded.
public struct AppliedMigration: Sendable, Hashable {
    /// The migration's version.
    public let version: AppVersion

    /// The last-run version when it began.
    public let previousVersion: AppVersion

    /// The version of the app that ran it.
    public let appVersion: AppVersion

    /// When it was finished, in seconds since 1970, UTC.
    public let finishedAt: Int64

    /// How long its closure took in the attempt that succeeded.
    public let duration: Duration

    /// How many times its closure was begun, the one that succeeded included.
    public let attempts: Int
}
