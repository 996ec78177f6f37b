/// The knowledge that a manager keeps between starts.
///
/// It changes by the functions of this file alone, whoever keeps it.
package struct MigrationState: Equatable, Sendable {
    static var format: Int { 1 }
    static var historyLimit: Int { 1_000 }
    static var failureLimit: Int { 1_000 }

    let name: String
    package private(set) var marks: StateMarks
    package private(set) var history: [AppliedMigration] = []
    /// The members that this release doesn't know, as they stand in the file: a newer release relies on them.
    package private(set) var unknownMembers: [UInt8] = []
    /// The number of the last lease that a host of a fleet took; zero in a file, which has none.
    package private(set) var fence = 0
}

extension MigrationState {
    package init(_ name: String, _ marks: StateMarks, unknownMembers: [UInt8] = [], fence: Int = 0) {
        self.init(name: name, marks: marks, unknownMembers: unknownMembers, fence: fence)
    }

    private func with(_ change: (inout MigrationState) -> Void) -> MigrationState {
        var next = self
        change(&next)
        return next
    }

    package func replacing(unknownMembers: [UInt8]) -> MigrationState {
        with { $0.unknownMembers = unknownMembers }
    }

    package func launched(by version: AppVersion) -> MigrationState {
        with { $0.marks.launched = version }
    }

    /// The state with a floor, after `baseline` where a fresh install gets that.
    func passing(_ baseline: AppVersion? = nil, minimumAppVersion: AppVersion) -> MigrationState {
        var next = self
        next.marks.raiseFloor(to: minimumAppVersion)
        guard let baseline else { return next }
        next.marks.baseline = baseline
        next.marks.pass(baseline)
        return next
    }

    /// The state after its mark was set, which leaves only the oldest app that may use the data.
    func set(to marks: StateMarks) -> MigrationState {
        var next = self
        next.marks = marks
        next.marks.raiseFloor(to: self.marks.minimumAppVersion)
        return next
    }

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
        intent.marks.launched = max(marks.launched, attempt.known.appVersion)
        intent.marks.raiseFloor(to: minimumAppVersion)
        intent.marks.begin(attempt)
        if let lease = attempt.lease { intent.fence = lease.fence }
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

    /// The state after an attempt failed, whose lease ends with it.
    package func failing(_ error: any Error) -> MigrationState {
        let isCancelled = MigrationError.isCancellation(error)
        let failure = isCancelled ? Interruption.cancellation : String(describing: error)
        var ended = self
        // Scalars, since one character can hold any number of them, and the state has a limit of size.
        ended.marks.interruption?.failure = String(failure.unicodeScalars.prefix(Self.failureLimit))
        ended.marks.interruption?.lease = nil
        return ended
    }

    /// The state once its files were put back or given up: no start looks for copies any more.
    func unprotected() -> MigrationState { with { $0.marks.interruption?.isProtecting = false } }

    /// The state with the next beat of its lease, or the one that was found.
    package func renewing(at beat: Int? = nil) -> MigrationState {
        with { $0.marks.interruption?.lease?.beat = beat ?? (marks.interruption?.lease?.beat ?? 0) + 1 }
    }

    /// The state after a lease of this number that nobody has: the next one has another.
    package func voiding(_ fence: Int) -> MigrationState {
        var next = self
        next.marks.interruption?.lease = nil
        next.fence = fence
        return next
    }

    /// The state without the processes that died in pending migrations; how often these were begun stays.
    package func resettingAttempts() -> MigrationState {
        var next = self
        for index in marks.attempted.indices { next.marks.attempted[index].deaths = 0 }
        guard var interrupted = marks.interruption else { return next }
        (interrupted.known.deaths, interrupted.lease) = (0, nil)
        // Without a failure the last process counts as dead.
        interrupted.failure = interrupted.failure ?? "Its process died; resetAttempts() was called since."
        next.marks.interruption = interrupted
        return next
    }
}

/// A migration that ran and was recorded.
public struct AppliedMigration: Sendable, Equatable {
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
