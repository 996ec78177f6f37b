/// What a manager keeps between starts.
struct MigrationState: Equatable {
    static var format: Int { 1 }
    static var historyLimit: Int { 1_000 }
    static var failureLimit: Int { 1_000 }

    var name: String
    var marks: MigrationMarks
    var history: [AppliedMigration] = []

    /// The state after `row` was applied: the only way in which the mark rises by a migration.
    func recording(_ row: AppliedMigration) -> MigrationState {
        var next = self
        next.marks.lastRun = max(marks.lastRun, row.version)
        next.marks.launched = max(marks.launched, row.appVersion)
        next.marks.interrupted = nil
        next.history.append(row)
        if next.history.count > Self.historyLimit {
            next.history.removeFirst(next.history.count - Self.historyLimit)
        }
        return next
    }
}

/// The part of the state that a start needs, without the history.
struct MigrationMarks: Equatable, Sendable {
    var lastRun: AppVersion
    var baseline: AppVersion
    var launched: AppVersion
    private var record: Interruption.Record

    init(lastRun: AppVersion, baseline: AppVersion, launched: AppVersion, interrupted: Interruption?) {
        self.init(lastRun: lastRun, baseline: baseline, launched: launched, record: Interruption.Record())
        self.interrupted = interrupted
    }

    init(lastRun: AppVersion, baseline: AppVersion, launched: AppVersion, record: Interruption.Record) {
        self.lastRun = lastRun
        self.baseline = baseline
        self.launched = launched
        self.record = record
    }

    var interrupted: Interruption? {
        get { record.interruption }
        set { record = newValue.map(Interruption.Record.init) ?? Interruption.Record() }
    }

    /// Whether `interrupted` is there, without a look at what it is.
    var isInterrupted: Bool { !record.isEmpty }
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

    /// An interruption, or none, behind a reference that is always there.
    ///
    /// A start copies the marks, and the first copy of an `Optional` of one of our types makes the runtime build that
    /// type: that alone takes longer than all the rest of a start. A shared object for none would have to be set up by
    /// the runtime too; making one is cheaper.
    final class Record: Equatable, Sendable {
        let interruption: Interruption?
        let isEmpty: Bool

        init() {
            interruption = nil
            isEmpty = true
        }

        init(_ interruption: Interruption) {
            self.interruption = interruption
            isEmpty = false
        }

        static func == (left: Record, right: Record) -> Bool { left.interruption == right.interruption }
    }
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
