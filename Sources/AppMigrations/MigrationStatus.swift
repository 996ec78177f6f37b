/// What a state says at one moment, for a screen, a log or a support mail.
///
/// ``MigrationManager/status`` reads it. ``description`` is a text for a person, and ``json`` one for a program.
public struct MigrationStatus: Sendable, CustomStringConvertible {
    /// The name of the manager.
    public let name: String

    /// The version of the app that asked.
    public let appVersion: AppVersion

    /// The path of the state file.
    public let stateFile: String

    /// The version up to which everything has run; `nil` where there is no state.
    public let lastRunVersion: AppVersion?

    /// The version of the data when the state was made or reset; `nil` where there is no state.
    public let baseline: AppVersion?

    /// The newest version of the app that was started on this data; `nil` where there is no state.
    public let launchedVersion: AppVersion?

    /// The oldest version of the app that may use the data; `nil` where every version may.
    public let minimumAppVersion: AppVersion?

    /// The migration whose closure was begun last and isn't recorded.
    public let interruption: Attempt?

    /// What is known of other versions that were begun and are still pending.
    public let attempted: [Attempt]

    /// The migrations that ran here, the oldest first, at most the newest 1,000.
    public let history: [AppliedMigration]

    package init(
        _ state: MigrationState?,
        of location: StateLocation,
        current: AppVersion,
        isUnderWay: Bool?
    ) {
        let marks = state?.marks
        name = location.name
        appVersion = current
        stateFile = location.state
        lastRunVersion = marks?.lastRun
        baseline = marks?.baseline
        launchedVersion = marks?.launched
        minimumAppVersion = marks?.minimumAppVersion == .zero ? nil : marks?.minimumAppVersion
        let interrupted = marks?.hasSpentSnapshot == true ? nil : marks?.interruption
        interruption = interrupted.map { Attempt(AttemptedMigration($0), $0, isUnderWay: isUnderWay) }
        attempted = (marks?.attempted ?? []).map { Attempt($0) }
        history = state?.history ?? []
    }

    /// Whether there is a state; without one the versions are `nil`, and the lists are empty.
    public var hasState: Bool { lastRunVersion != nil }

    /// The oldest version of the app that may use the data, where it lies above ``appVersion``: this one may not.
    public var requiredAppVersion: AppVersion? {
        guard let minimumAppVersion, minimumAppVersion.exceeds(appVersion) else { return nil }
        return minimumAppVersion
    }
}

extension MigrationStatus {
    /// What is known of a migration that was begun and isn't recorded.
    public struct Attempt: Sendable {
        /// The version of the migration.
        public let version: AppVersion

        /// How many times its closure was begun.
        public let attempts: Int

        /// How many processes of ``appVersion`` died in it, since the last checkpoint that changed.
        ///
        /// The last process counts too, unless its closure threw or still runs, or is a host's of a fleet whose lease stands. It
        /// is the number that `attemptLimit` is compared with.
        public let deaths: Int

        /// The version of the app that began it last.
        public let appVersion: AppVersion

        /// When it was begun last, in seconds since 1970, UTC; of the interrupted migration only.
        public let startedAt: Int64?

        /// The error that ended it, at most 1,000 characters: what the closure's own error says.
        ///
        /// `nil` while it is under way, and where its process died.
        public let failure: String?

        /// What the closure saved with `saveCheckpoint`, and the next attempt goes on from.
        public let checkpoint: String?

        /// The version of the app that saved ``checkpoint``.
        public let checkpointAppVersion: AppVersion?

        /// How much was done at the checkpoint, from 0 to 1.
        public let progress: Double?

        /// Whether a process is at work on it now; `nil` where that can't be told.
        public let isUnderWay: Bool?

        /// Whether protected files wait to be put back, which the next start that may write does.
        public let awaitsRestore: Bool

        /// The lease of the host of a fleet that may be at work; JSON doesn't have it.
        let lease: Lease?

        init(_ known: AttemptedMigration, _ interruption: Interruption? = nil, isUnderWay: Bool? = false) {
            version = known.version
            attempts = known.attempts
            lease = isUnderWay == nil ? interruption?.lease : nil
            let mayBeAlive = isUnderWay == true || lease != nil
            deaths = mayBeAlive ? interruption?.deaths ?? known.deaths : known.deaths
            appVersion = known.appVersion
            startedAt = interruption?.startedAt
            failure = interruption?.failure
            checkpoint = known.checkpoint?.text
            checkpointAppVersion = known.checkpoint?.appVersion
            progress = known.checkpoint?.progress
            self.isUnderWay = isUnderWay
            awaitsRestore = isUnderWay != true && interruption?.isProtecting == true
        }
    }
}
