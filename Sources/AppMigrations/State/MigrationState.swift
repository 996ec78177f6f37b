/// Everything that a manager keeps between starts.
///
/// Only the functions of this file make a state from an older one, whether it is stored in a file or by the
/// hosts of a fleet. `StateCoding.swift` reads and writes its text.
package final class MigrationState: Sendable {
    static var format: Int { 1 }

    /// The number of history rows that are kept.
    static var historyLimit: Int { 1_000 }

    /// The number of characters of an error's text that are kept.
    static var failureLimit: Int { 1_000 }

    let name: String
    package let marks: StateMarks
    package let history: [AppliedMigration]

    /// The highest version among the rows that were dropped from the history; zero if none was dropped.
    let droppedVersion: AppVersion

    /// The text of the members that this release of the library doesn't know.
    ///
    /// Every save writes them back unchanged, because a newer release relies on them.
    package let unknownMembers: [UInt8]

    /// The fence of the newest lease that a host of a fleet took.
    ///
    /// It is zero in a file, which has no leases.
    package let fence: Int

    package init(
        name: String,
        marks: StateMarks,
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
            name: name,
            marks: marks,
            history: history ?? self.history,
            droppedVersion: droppedVersion ?? self.droppedVersion,
            unknownMembers: unknownMembers,
            fence: fence ?? self.fence
        )
    }

    private func with(_ interruption: Interruption?, fence: Int? = nil) -> MigrationState {
        with(marks.with(interruption: interruption, attempted: marks.attempted), fence: fence)
    }

    package func replacing(unknownMembers: [UInt8]) -> MigrationState {
        MigrationState(
            name: name,
            marks: marks,
            history: history,
            droppedVersion: droppedVersion,
            unknownMembers: unknownMembers,
            fence: fence
        )
    }

    /// Returns the state after a start of the app at `version`.
    package func launched(by version: AppVersion) -> MigrationState { with(marks.with(launched: version)) }

    /// Returns the state after a first start of a fresh install got through its declarations.
    func endingFreshInstall() -> MigrationState { with(marks.endingFreshInstall()) }

    func raisingMinimumAppVersion(to minimumAppVersion: AppVersion) -> MigrationState {
        with(marks.raisingMinimumAppVersion(to: minimumAppVersion))
    }

    /// Returns the state after `version` joined the baseline of a fresh install, so that it counts as
    /// applied.
    func joiningBaseline(_ version: AppVersion, minimumAppVersion: AppVersion) -> MigrationState {
        let raised = marks.raisingMinimumAppVersion(to: minimumAppVersion).raisingLastRun(to: version)
        return with(raised.with(baseline: version))
    }

    /// Returns the state after a reset to `marks`, with the old minimum app version, and the history up to
    /// the last-run version.
    ///
    /// The versions above it are pending again, so no row may say that they have run. All below it belong to
    /// the baseline.
    func resetting(to marks: StateMarks) -> MigrationState {
        with(
            marks.raisingMinimumAppVersion(to: self.marks.minimumAppVersion),
            history: history.filter { $0.version <= marks.lastRun },
            droppedVersion: .zero
        )
    }

    /// Returns the state after the migration of `row` was applied.
    ///
    /// A migration raises the last-run version only here.
    package func recording(_ row: AppliedMigration) -> MigrationState {
        let launched = max(marks.launched, row.appVersion)
        let recorded = with(
            marks.raisingLastRun(to: row.version).with(launched: launched),
            history: history + [row]
        )
        return recorded.withoutOldestRows(history.count + 1 - Self.historyLimit)
    }

    /// Returns the state without the oldest rows of its history.
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
    /// A version up to the baseline counts as run, because the data has its work already. A version up to
    /// ``droppedVersion`` counts as run, because its row may be one that was dropped. A version with an
    /// attempt that isn't recorded has not run: the record of a migration ends its attempts.
    package func hasRun(_ version: AppVersion) -> Bool {
        if version <= marks.baseline { return true }
        if marks.attempts(at: version) != nil { return false }
        return version <= droppedVersion || history.contains { $0.version == version }
    }
}

// The states during an attempt at a migration.
extension MigrationState {
    /// Returns the state with the intent of an attempt, which is saved before the closure changes anything.
    package func withIntent(_ intent: Interruption, minimumAppVersion: AppVersion) -> MigrationState {
        let raised = marks.raisingMinimumAppVersion(to: minimumAppVersion).addingAttempt(intent)
        let launched = max(marks.launched, intent.attempt.appVersion)
        return with(raised.with(launched: launched), fence: intent.lease?.fence)
    }

    /// Returns the state with a checkpoint of the running attempt, which was `initial` when it began.
    ///
    /// If the checkpoint differs from that of `initial`, the closure has made progress, and the count of
    /// deaths starts again. It must not be compared with the previous checkpoint: a closure that starts from
    /// the beginning in each attempt, saves the same checkpoints and dies is in a crash loop.
    ///
    /// If `progress` is `nil`, that of the previous checkpoint is kept.
    package func withCheckpoint(
        _ text: String,
        progress: Double?,
        since initial: AttemptedMigration
    ) -> MigrationState {
        guard let current = marks.interruption else { return self }
        let checkpoint = Checkpoint(
            text: text,
            appVersion: initial.appVersion,
            progress: progress ?? current.attempt.checkpoint?.progress
        )
        let deaths = initial.checkpoint?.text == text ? initial.deaths : 0
        let attempt = current.attempt.with(deaths: deaths, checkpoint: checkpoint)
        return with(current.with(attempt: attempt, failure: current.failure, lease: current.lease))
    }

    /// Returns the state after the attempt failed with an error.
    ///
    /// If the attempt had a lease, the lease ends.
    package func withFailure(_ error: any Error) -> MigrationState {
        let isCancelled = MigrationError.isCancellation(error)
        let failure = isCancelled ? Interruption.cancellation : String(describing: error)
        // Unicode scalars are counted because a character can consist of any number of them, and a state has
        // a limit of size.
        let text = String(failure.unicodeScalars.prefix(Self.failureLimit))
        return with(marks.interruption?.with(failure: text))
    }

    /// Returns the state after the protected files were restored, or their restore was abandoned.
    ///
    /// Later starts don't look for copies of them.
    func endingRestore() -> MigrationState {
        let ended = marks.interruption.map { interruption in
            Interruption(
                interruption.attempt,
                at: interruption.startedAt,
                failure: interruption.failure,
                lease: interruption.lease
            )
        }
        return with(ended)
    }

    /// Returns the state with another beat of its lease.
    package func renewingLease(beat: Int) -> MigrationState {
        guard let current = marks.interruption else { return self }
        var lease = current.lease
        lease?.beat = beat
        return with(current.with(failure: current.failure, lease: lease))
    }

    /// Returns the state without a lease, and with `fence` as the newest one, so that the next lease gets a
    /// higher fence.
    package func endingLease(fence: Int) -> MigrationState {
        with(marks.interruption.map { $0.with(failure: $0.failure) }, fence: fence)
    }

    /// Returns the state with no deaths in pending migrations.
    ///
    /// The numbers of attempts stay.
    package func resettingAttempts() -> MigrationState {
        let interruption = marks.interruption.map { current in
            // Without a failure, the attempt would still count as a death.
            let failure = current.failure ?? "Its process died; resetAttempts() was called since."
            return current.with(attempt: current.attempt.with(deaths: 0), failure: failure)
        }
        let attempted = marks.attempted.map { $0.with(deaths: 0) }
        return with(marks.with(interruption: interruption, attempted: attempted))
    }
}
