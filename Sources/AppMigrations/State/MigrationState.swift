/// The knowledge that a manager keeps between starts.
package struct MigrationState: Equatable, Sendable {
    static var format: Int { 1 }
    static var historyLimit: Int { 1_000 }
    static var failureLimit: Int { 1_000 }

    var name: String
    package var marks: StateMarks
    package internal(set) var history: [AppliedMigration] = []
    /// The members that this release doesn't know, as they stand in the file: a newer release relies on them.
    package var unknownMembers: [UInt8] = []
    /// The number of the last lease that a host of a fleet took; zero in a file, which has none.
    package var fence = 0
}

extension MigrationState {
    package init(_ name: String, _ marks: StateMarks) { self.init(name: name, marks: marks) }

    /// The state after `row` was applied: the only way in which the mark rises by a migration.
    package func recording(_ row: AppliedMigration) -> MigrationState {
        var next = self
        next.marks.pass(row.version)
        next.marks.launched = max(marks.launched, row.appVersion)
        next.history.append(row)
        if next.history.count > Self.historyLimit {
            next.history.removeFirst(next.history.count - Self.historyLimit)
        }
        return next
    }
}

/// The states that an attempt at a migration goes through, wherever they are kept.
extension MigrationState {
    /// The state with the intent of an attempt, which is saved before the closure changes anything.
    package func beginning(_ attempt: Interruption, minimumAppVersion: AppVersion) -> MigrationState {
        var intent = self
        intent.marks.launched = max(intent.marks.launched, attempt.known.appVersion)
        intent.marks.raiseFloor(to: minimumAppVersion)
        intent.marks.begin(attempt)
        return intent
    }

    /// The state with a checkpoint of the attempt that is under way.
    ///
    /// A closure that always begins at the start, passes the same places and dies is a crash loop. So the deaths are those that
    /// were counted where the attempt `began`.
    package func reaching(
        _ text: String,
        progress: Double?,
        after began: AttemptedMigration
    ) -> MigrationState {
        var next = self
        next.marks.interruption?.known.checkpoint = Checkpoint(
            text: text,
            appVersion: began.appVersion,
            progress: progress ?? marks.interruption?.known.checkpoint?.progress
        )
        next.marks.interruption?.known.deaths = began.checkpoint?.text == text ? began.deaths : 0
        return next
    }

    package func failing(_ error: any Error) -> MigrationState {
        var ended = self
        let isCancelled = MigrationError.isCancellation(error)
        let failure = isCancelled ? Interruption.cancellation : String(describing: error)
        // Scalars, since one character can hold any number of them, and the state has a limit of size.
        ended.marks.interruption?.failure = String(failure.unicodeScalars.prefix(Self.failureLimit))
        return ended
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

extension AppliedMigration {
    package init(
        _ known: AttemptedMigration,
        after previousVersion: AppVersion,
        at time: Int64,
        in duration: Duration
    ) {
        self.init(
            version: known.version,
            previousVersion: previousVersion,
            appVersion: known.appVersion,
            finishedAt: time,
            duration: duration,
            attempts: known.attempts
        )
    }
}
