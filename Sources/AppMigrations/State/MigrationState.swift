/// The knowledge that a manager keeps between starts; `StateCoding` has what stands of it in the file.
///
/// It changes by the functions of this file alone, whoever keeps it.
package final class MigrationState: Sendable {
    static var format: Int { 1 }
    static var historyLimit: Int { 1_000 }
    static var failureLimit: Int { 1_000 }

    let name: String
    package let marks: StateMarks
    package let history: [AppliedMigration]
    /// The highest version among the rows that the history has lost; zero if it has all.
    let droppedVersion: AppVersion
    /// The members that this release doesn't know, as they stand in the file: a newer release relies on them.
    package let unknownMembers: [UInt8]
    /// The number of the last lease that a host of a fleet took; zero in a file, which has none.
    package let fence: Int

    package init(
        _ name: String,
        _ marks: StateMarks,
        history: [AppliedMigration] = [],
        droppedVersion: AppVersion = .zero,
        unknownMembers: [UInt8] = [],
        fence: Int = 0
    ) {
        self.name = name
        self.marks = marks
        self.history = history
        self.droppedVersion = droppedVersion
        self.unknownMembers = unknownMembers
        self.fence = fence
    }
}

extension MigrationState {
    private func with(
        _ marks: StateMarks,
        history: [AppliedMigration]? = nil,
        droppedVersion: AppVersion? = nil,
        fence: Int? = nil
    ) -> MigrationState {
        MigrationState(
            name,
            marks,
            history: history ?? self.history,
            droppedVersion: droppedVersion ?? self.droppedVersion,
            unknownMembers: unknownMembers,
            fence: fence ?? self.fence
        )
    }

    private func with(_ interruption: Interruption?, fence: Int? = nil) -> MigrationState {
        with(StateMarks(marks, attempts: (interruption, marks.attempted)), fence: fence)
    }

    package func replacing(unknownMembers: [UInt8]) -> MigrationState {
        MigrationState(
            name,
            marks,
            history: history,
            droppedVersion: droppedVersion,
            unknownMembers: unknownMembers,
            fence: fence
        )
    }

    package func launched(by version: AppVersion) -> MigrationState {
        with(StateMarks(marks, launched: version))
    }

    /// The state once a first start of a fresh install got through its declarations.
    func endingFreshInstall() -> MigrationState { with(marks.endingFreshInstall()) }

    /// The state with a floor, after `baseline` where a fresh install gets that.
    func passing(_ baseline: AppVersion? = nil, minimumAppVersion: AppVersion) -> MigrationState {
        let raised = marks.raisingFloor(to: minimumAppVersion)
        return with(baseline.map { StateMarks(raised.passing($0), baseline: $0) } ?? raised)
    }

    /// The state after its last-run version was set, which leaves the oldest app that may use the data, and the history up to that
    /// version.
    ///
    /// A version above it is pending again, so no row may say that it has run. All below it belongs to the baseline.
    func set(to marks: StateMarks) -> MigrationState {
        with(
            marks.raisingFloor(to: self.marks.minimumAppVersion),
            history: history.filter { $0.version <= marks.lastRun },
            droppedVersion: .zero
        )
    }

    /// The state after `row` was applied: the only way in which the mark rises by a migration.
    package func recording(_ row: AppliedMigration) -> MigrationState {
        let launched = max(marks.launched, row.appVersion)
        let recorded = with(
            StateMarks(marks.passing(row.version), launched: launched),
            history: history + [row]
        )
        return recorded.withoutOldestRows(history.count + 1 - Self.historyLimit)
    }

    /// The state without the oldest rows of its history.
    func withoutOldestRows(_ count: Int) -> MigrationState {
        if count <= 0 { return self }
        let dropped = history.prefix(count).map(\.version).max() ?? .zero
        return with(
            marks,
            history: Array(history.dropFirst(count)),
            droppedVersion: max(droppedVersion, dropped)
        )
    }

    /// True if a version up to the last-run version has run here, or counts as run.
    ///
    /// The baseline has the work of each version up to its own. A version that isn't above the dropped rows may have been one of them.
    package func hasRun(_ version: AppVersion) -> Bool {
        version <= marks.baseline || version <= droppedVersion
            || history.contains { $0.version == version }
    }
}

/// The states that an attempt at a migration goes through, wherever they are kept.
extension MigrationState {
    /// The state with the intent of an attempt, which is saved before the closure changes anything.
    package func beginning(_ attempt: Interruption, minimumAppVersion: AppVersion) -> MigrationState {
        let raised = marks.raisingFloor(to: minimumAppVersion).beginning(attempt)
        let launched = max(marks.launched, attempt.known.appVersion)
        return with(StateMarks(raised, launched: launched), fence: attempt.lease?.fence)
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
        with(
            marks.interruption.map { now in
                let progress = progress ?? now.known.checkpoint?.progress
                let checkpoint = Checkpoint(text: text, appVersion: began.appVersion, progress: progress)
                let deaths = began.checkpoint?.text == text ? began.deaths : 0
                return now.with(now.known.with(deaths: deaths, checkpoint), failure: now.failure, now.lease)
            }
        )
    }

    /// The state after an attempt failed, whose lease ends with it.
    package func failing(_ error: any Error) -> MigrationState {
        let isCancelled = MigrationError.isCancellation(error)
        let failure = isCancelled ? Interruption.cancellation : String(describing: error)
        // Scalars, since one character can hold any number of them, and the state has a limit of size.
        let text = String(failure.unicodeScalars.prefix(Self.failureLimit))
        return with(marks.interruption?.with(failure: text))
    }

    /// The state once its files were put back or given up: no start looks for copies any more.
    func unprotected() -> MigrationState {
        let ended = marks.interruption
        return with(ended.map { Interruption($0.known, at: $0.startedAt, failure: $0.failure, $0.lease) })
    }

    /// The state with another beat of its lease.
    package func renewing(at beat: Int) -> MigrationState {
        with(
            marks.interruption.map { now in
                var lease = now.lease
                lease?.beat = beat
                return now.with(failure: now.failure, lease)
            }
        )
    }

    /// The state after a lease of this number that nobody has: the next one has another.
    package func voiding(_ fence: Int) -> MigrationState {
        with(marks.interruption.map { $0.with(failure: $0.failure) }, fence: fence)
    }

    /// The state without the processes that died in pending migrations; how often these were begun stays.
    package func resettingAttempts() -> MigrationState {
        let interrupted = marks.interruption.map { now in
            // Without a failure the last process counts as dead.
            let failure = now.failure ?? "Its process died; resetAttempts() was called since."
            return now.with(now.known.with(deaths: 0), failure: failure)
        }
        return with(StateMarks(marks, attempts: (interrupted, marks.attempted.map { $0.with(deaths: 0) })))
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

    /// Makes a row of a history for the preview or the test of a screen that shows one.
    ///
    /// - Parameters:
    ///   - version: The migration's version.
    ///   - previousVersion: The last-run version when it began.
    ///   - appVersion: The version of the app that ran it.
    ///   - finishedAt: When it was finished, in seconds since 1970, UTC.
    ///   - duration: How long its closure took in the attempt that succeeded.
    ///   - attempts: How many times its closure was begun, the one that succeeded included.
    public init(
        version: AppVersion,
        previousVersion: AppVersion,
        appVersion: AppVersion,
        finishedAt: Int64,
        duration: Duration = .zero,
        attempts: Int = 1
    ) {
        self.version = version
        self.previousVersion = previousVersion
        self.appVersion = appVersion
        self.finishedAt = finishedAt
        self.duration = duration
        self.attempts = attempts
    }
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
