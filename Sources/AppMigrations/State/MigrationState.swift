/// The persistent state of one manager: everything that it keeps from one start of the app to the next.
///
/// Only the functions in this file make a new state from the previous one. `StateCoding.swift` reads and
/// writes a state as JSON. If several hosts share the data (a fleet), the same state is in a shared store and
/// not in a file.
package final class MigrationState: Sendable {
    static var format: Int { 1 }

    /// The maximum number of history rows to keep.
    static var historyLimit: Int { 1_000 }

    /// The maximum length of a stored error text, in Unicode scalars.
    static var failureLimit: Int { 1_000 }

    let name: String
    package let versions: StateVersions
    package let history: [AppliedMigration]

    /// The highest version among the rows that were dropped from the history; zero if none was dropped.
    let droppedVersion: AppVersion

    /// The raw JSON of the members that this release of the library doesn't recognize.
    ///
    /// Every save writes them back unchanged, because a newer release of the library relies on them.
    package let unknownMembers: [UInt8]

    /// The fencing token of the latest lease that a host has taken, if several hosts share the data.
    ///
    /// A state file has no leases, so the number is always zero there.
    package let fence: Int

    package init(
        name: String,
        versions: StateVersions,
        history: [AppliedMigration] = [],
        droppedVersion: AppVersion = .zero,
        unknownMembers: [UInt8] = [],
        fence: Int = 0
    ) {
        self.name = name
        self.versions = versions
        self.history = history
        self.droppedVersion = droppedVersion
        self.unknownMembers = unknownMembers
        self.fence = fence
    }
}

extension MigrationState {
    private func with(
        _ versions: StateVersions,
        history: [AppliedMigration]? = nil,
        droppedVersion: AppVersion? = nil,
        fence: Int? = nil
    ) -> MigrationState {
        MigrationState(
            name: name,
            versions: versions,
            history: history ?? self.history,
            droppedVersion: droppedVersion ?? self.droppedVersion,
            unknownMembers: unknownMembers,
            fence: fence ?? self.fence
        )
    }

    private func with(_ interruption: Interruption?, fence: Int? = nil) -> MigrationState {
        with(versions.with(interruption: interruption, attempted: versions.attempted), fence: fence)
    }

    package func replacing(unknownMembers: [UInt8]) -> MigrationState {
        MigrationState(
            name: name,
            versions: versions,
            history: history,
            droppedVersion: droppedVersion,
            unknownMembers: unknownMembers,
            fence: fence
        )
    }

    /// Returns the state with `version` as the newest version of the app that was started.
    ///
    /// The caller has to check that no newer version was started before.
    package func recordingLaunch(of version: AppVersion) -> MigrationState {
        with(versions.with(launched: version))
    }

    /// Returns the state without ``StateVersions/freshInstall``.
    ///
    /// This state is saved after a first start in which the app has declared its migrations and none of them
    /// failed.
    func endingFreshInstall() -> MigrationState { with(versions.endingFreshInstall()) }

    func raisingMinimumAppVersion(to minimumAppVersion: AppVersion) -> MigrationState {
        with(versions.raisingMinimumAppVersion(to: minimumAppVersion))
    }

    /// Returns the state with the baseline of a fresh install raised to `version`.
    ///
    /// In the returned state, `version` counts as applied, although its closure wasn't called.
    func raisingBaseline(to version: AppVersion, minimumAppVersion: AppVersion) -> MigrationState {
        let raised = versions.raisingMinimumAppVersion(to: minimumAppVersion).raisingLastRun(to: version)
        return with(raised.with(baseline: version))
    }

    /// Returns this state reset to `newVersions`.
    ///
    /// - The minimum app version is never lowered.
    /// - The history keeps only the rows up to the new last-run version. Versions above it are pending again,
    ///   so no row may say that they have run.
    /// - The dropped version is cleared. It isn't needed any longer, because all versions up to the last-run
    ///   version are part of the new baseline.
    func resetting(to newVersions: StateVersions) -> MigrationState {
        with(
            newVersions.raisingMinimumAppVersion(to: versions.minimumAppVersion),
            history: history.filter { $0.version <= newVersions.lastRun },
            droppedVersion: .zero
        )
    }

    /// Returns the state after a migration was applied: with the last-run version raised, and with `row`
    /// added to the history.
    package func recording(_ row: AppliedMigration) -> MigrationState {
        let launched = max(versions.launched, row.appVersion)
        let recorded = with(
            versions.raisingLastRun(to: row.version).with(launched: launched),
            history: history + [row]
        )
        return recorded.withoutOldestRows(history.count + 1 - Self.historyLimit)
    }

    /// Returns the state without the oldest `count` rows of its history.
    ///
    /// If `count` is zero or negative, nothing is removed.
    func withoutOldestRows(_ count: Int) -> MigrationState {
        if count <= 0 { return self }
        let dropped = history.prefix(count).map(\.version).max() ?? .zero
        return with(
            versions,
            history: Array(history.dropFirst(count)),
            droppedVersion: max(droppedVersion, dropped)
        )
    }

    /// True if `version` has run on this data, or counts as having run.
    ///
    /// Call this only with versions up to the last-run version. These are the rules:
    /// - A version up to the baseline counts as having run, because the data already includes its changes.
    /// - A version that still has an attempt in the state has not run, because its attempts are removed when
    ///   a migration is recorded.
    /// - A version up to ``droppedVersion`` counts as having run, because its row may have been dropped from
    ///   the history.
    package func hasRun(_ version: AppVersion) -> Bool {
        if version <= versions.baseline { return true }
        if versions.attempts(at: version) != nil { return false }
        return version <= droppedVersion || history.contains { $0.version == version }
    }
}

// The changes of the state during an attempt to run a migration.
extension MigrationState {
    /// Returns the state with `interruption`, which says that an attempt has begun.
    ///
    /// This state is saved before the closure runs. So if the process crashes, the next start finds the
    /// interruption.
    package func beginningAttempt(
        _ interruption: Interruption,
        minimumAppVersion: AppVersion
    ) -> MigrationState {
        let raised = versions.raisingMinimumAppVersion(to: minimumAppVersion).addingAttempt(interruption)
        let launched = max(versions.launched, interruption.attempt.appVersion)
        return with(raised.with(launched: launched), fence: interruption.lease?.fence)
    }

    /// Returns the state with a new checkpoint of the running attempt.
    ///
    /// The text is compared with the checkpoint of `initial`, which is the attempt as it was when it began.
    /// If it differs, the closure got further, and its count of crashes becomes zero. If it is the same, the
    /// count becomes that of `initial` again.
    ///
    /// It isn't compared with the previous checkpoint of the same attempt. A closure may start over in each
    /// attempt, reach the same checkpoint, and crash. At that checkpoint, the count of crashes is back, so
    /// such a crash loop ends at the limit.
    ///
    /// If `progress` is `nil`, the progress of the previous checkpoint is kept.
    package func withCheckpoint(
        _ text: String,
        progress: Double?,
        comparedWith initial: AttemptedMigration
    ) -> MigrationState {
        guard let current = versions.interruption else { return self }
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
        // Count Unicode scalars, not characters: a character can consist of any number of scalars, and the
        // size of a state is limited.
        let text = String(failure.unicodeScalars.prefix(Self.failureLimit))
        return with(versions.interruption?.with(failure: text))
    }

    /// Returns the state after the protected files were restored or the restore was abandoned.
    ///
    /// Its interruption isn't `isProtecting` any more, so later starts don't restore the files again.
    func endingRestore() -> MigrationState {
        let ended = versions.interruption.map { interruption in
            Interruption(
                interruption.attempt,
                at: interruption.startedAt,
                failure: interruption.failure,
                lease: interruption.lease
            )
        }
        return with(ended)
    }

    /// Returns the state with ``AttemptedMigration/isRestored`` set for the interrupted migration.
    ///
    /// Save it after a start has restored the protected files of an attempt that had ended before.
    func recordingRestore() -> MigrationState {
        with(
            versions.interruption.map { current in
                current.with(attempt: current.attempt.with(isRestored: true), failure: current.failure)
            }
        )
    }

    /// Returns the state without ``AttemptedMigration/isRestored`` for `version`.
    func forgettingRestore(of version: AppVersion) -> MigrationState {
        let interruption = versions.interruption.map { current in
            current.version == version
                ? current.with(attempt: current.attempt.with(isRestored: false), failure: current.failure)
                : current
        }
        let attempted = versions.attempted.map { $0.version == version ? $0.with(isRestored: false) : $0 }
        return with(versions.with(interruption: interruption, attempted: attempted))
    }

    /// Returns the state with its lease renewed, which sets ``Lease/beat`` (the lease's heartbeat counter).
    package func renewingLease(beat: Int) -> MigrationState {
        guard let current = versions.interruption else { return self }
        var lease = current.lease
        lease?.beat = beat
        return with(current.with(failure: current.failure, lease: lease))
    }

    /// Returns the state after its lease has ended.
    ///
    /// The state keeps `fence`, the fencing token of the lease, so that the next lease gets a higher token.
    package func endingLease(fence: Int) -> MigrationState {
        with(versions.interruption.map { $0.with(failure: $0.failure) }, fence: fence)
    }

    /// Returns the state with the count of crashes set to zero for every pending migration.
    ///
    /// The limit of attempts counts only crashes, so every pending migration may run again. The numbers of
    /// attempts are kept.
    package func resettingAttempts() -> MigrationState {
        let interruption = versions.interruption.map { current in
            // Setting the count to zero isn't enough: the next start counts an attempt without a stored
            // failure as a crash (see `Interruption.outcome`). So store a failure.
            let failure = current.failure ?? Interruption.resetAfterCrash
            return current.with(attempt: current.attempt.with(deaths: 0), failure: failure)
        }
        let attempted = versions.attempted.map { $0.with(deaths: 0) }
        return with(versions.with(interruption: interruption, attempted: attempted))
    }
}
