extension MigrationStatus {
    /// What is known of a migration that was begun and isn't recorded.
    public struct Attempt: Sendable {
        /// The version of the migration.
        public let version: AppVersion

        /// How many times its closure was begun.
        public let attempts: Int

        /// How many processes of ``appVersion`` died in it, since the last checkpoint that changed.
        ///
        /// The process that was in it last is one of them, unless the closure threw, is under way, or is a host's of a fleet whose
        /// lease stands. It is the number that `attemptLimit` is compared with.
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
    }
}

extension MigrationStatus.Attempt {
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
        awaitsRestore = isUnderWay != true && interruption?.protected.isEmpty == false
    }
}

extension MigrationStatus {
    package init(
        _ state: MigrationState?,
        of location: StateLocation,
        current: AppVersion,
        isUnderWay: Bool?
    ) {
        let marks = state?.marks
        let interrupted = marks?.hasSpentSnapshot == true ? nil : marks?.interruption
        facts = Facts(
            location.name,
            current,
            location.state,
            marks.map {
                Marks(
                    $0.lastRun,
                    $0.baseline,
                    $0.launched,
                    $0.minimumAppVersion == .zero ? nil : $0.minimumAppVersion
                )
            },
            interrupted.map { Attempt(AttemptedMigration($0), $0, isUnderWay: isUnderWay) },
            (marks?.attempted ?? []).map { Attempt($0) },
            state?.history ?? []
        )
    }
}
