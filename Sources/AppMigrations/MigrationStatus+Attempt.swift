extension MigrationStatus {
    /// What is known about a migration that was started and hasn't finished: all attempts at it together.
    public struct Attempt: Sendable {
        /// The version of the migration.
        public let version: AppVersion

        /// How many times its closure was begun.
        public let attempts: Int

        /// How many processes of this app version died while they ran it.
        ///
        /// The count restarts when a checkpoint is saved that differs from the one before.
        ///
        /// The last process counts too, unless its closure threw or still runs. If several hosts share the
        /// data (a fleet), the last process doesn't count either while its host's lease is valid. The number
        /// is compared with `attemptLimit`.
        public let deaths: Int

        /// The version of the app that began it last.
        public let appVersion: AppVersion

        /// When it was begun last, in seconds since 1970, UTC; only for the interrupted migration.
        public let startedAt: Int64?

        /// The text of the closure's error that ended it, at most 1,000 characters; only for the interrupted
        /// migration.
        ///
        /// It is `nil` while the migration is under way, and if its task was cancelled or its process died.
        /// After `resetAttempts()`, it says that the process died.
        public let failure: String?

        /// The text that the closure saved with `saveCheckpoint`.
        ///
        /// The next attempt goes on from there.
        public let checkpoint: String?

        /// The version of the app that saved ``checkpoint``.
        public let checkpointAppVersion: AppVersion?

        /// How much was done at the checkpoint, from 0 to 1.
        public let progress: Double?

        /// True if a process is at work on it now; `nil` if that is unknown.
        public let isUnderWay: Bool?

        /// True if protected files have to be restored.
        ///
        /// The next start that isn't read-only restores them.
        public let awaitsRestore: Bool

        /// True if its task was cancelled, which doesn't count as a failure.
        private var isCancelled = false

        /// If several hosts share the data (a fleet): the lease of the host that may still be running the
        /// migration.
        ///
        /// It isn't part of ``json``.
        private var lease: Lease?

        /// Makes attempts for the preview or the test of a screen that shows a status.
        ///
        /// - Parameters:
        ///   - version: The version of the migration.
        ///   - attempts: How many times its closure was begun.
        ///   - deaths: How many processes of `appVersion` died in it.
        ///   - appVersion: The version of the app that began it last.
        ///   - startedAt: When it was begun last, in seconds since 1970, UTC.
        ///   - failure: The error that ended it.
        ///   - checkpoint: The text that the closure saved.
        ///   - checkpointAppVersion: The version of the app that saved `checkpoint`; `nil` means
        ///     `appVersion`, if there is a checkpoint.
        ///   - progress: How much was done at the checkpoint, from 0 to 1.
        ///   - isUnderWay: True if a process is at work on it now; `nil` if that is unknown.
        ///   - awaitsRestore: True if protected files have to be restored.
        public init(
            version: AppVersion,
            attempts: Int = 1,
            deaths: Int = 0,
            appVersion: AppVersion,
            startedAt: Int64? = nil,
            failure: String? = nil,
            checkpoint: String? = nil,
            checkpointAppVersion: AppVersion? = nil,
            progress: Double? = nil,
            isUnderWay: Bool? = false,
            awaitsRestore: Bool = false
        ) {
            self.version = version
            self.attempts = attempts
            self.deaths = deaths
            self.appVersion = appVersion
            self.startedAt = startedAt
            self.failure = failure
            self.checkpoint = checkpoint
            self.checkpointAppVersion = checkpointAppVersion ?? (checkpoint == nil ? nil : appVersion)
            self.progress = progress.map(MigrationContext.fraction)
            self.isUnderWay = isUnderWay
            self.awaitsRestore = awaitsRestore
        }
    }
}

extension MigrationStatus.Attempt {
    /// The attempts at a pending version that isn't the interrupted one.
    init(_ attempted: AttemptedMigration) {
        self.init(
            version: attempted.version,
            attempts: attempted.attempts,
            deaths: attempted.deaths,
            appVersion: attempted.appVersion,
            checkpoint: attempted.checkpoint?.text,
            checkpointAppVersion: attempted.checkpoint?.appVersion,
            progress: attempted.checkpoint?.progress
        )
    }

    /// The attempts at the version that was begun last.
    ///
    /// `isUnderWay` is `nil` if it isn't known whether a process is running it.
    init(_ interruption: Interruption, isUnderWay: Bool?) {
        // While a process is at work, the last attempt isn't a death.
        let isAtWork = isUnderWay ?? (interruption.lease != nil)
        let attempted = isAtWork ? interruption.attempt : interruption.outcome
        let isCancelled = interruption.failure == Interruption.cancellation
        self.init(
            version: attempted.version,
            attempts: attempted.attempts,
            deaths: attempted.deaths,
            appVersion: attempted.appVersion,
            startedAt: interruption.startedAt,
            failure: isCancelled ? nil : interruption.failure,
            checkpoint: attempted.checkpoint?.text,
            checkpointAppVersion: attempted.checkpoint?.appVersion,
            progress: attempted.checkpoint?.progress,
            isUnderWay: isUnderWay,
            awaitsRestore: isUnderWay != true && interruption.isProtecting
        )
        self.isCancelled = isCancelled
        if isUnderWay == nil { lease = interruption.lease }
    }
}

// How it is printed and written as JSON.
extension MigrationStatus.Attempt {
    var json: String {
        JSON.object(
            [
                ("version", version.json),
                ("attempts", JSON.count(attempts)),
                ("deaths", JSON.count(deaths)),
                ("appVersion", appVersion.json),
                ("checkpoint", checkpoint?.quoted),
                ("checkpointAppVersion", checkpointAppVersion?.json),
                ("progress", progress?.description),
                ("startedAt", startedAt.map { Timestamp.text($0).quoted }),
                ("failure", failure?.quoted),
                ("isUnderWay", isUnderWay?.description),
                ("awaitsRestore", awaitsRestore.description),
            ]
        )
    }

    func lines(isInterrupted: Bool) -> [Message] {
        let begun: Message = startedAt.map { ", begun \(Timestamp.text($0))" } ?? ""
        let counts: Message =
            "attempts: \(attempts), deaths: \(deaths), last by app version \(appVersion)\(begun)"
        let subject: Message =
            if !isInterrupted {
                "Waiting: \(version), tried before"
            } else if isUnderWay == true || lease != nil {
                "Under way: \(version)"
            } else if failure != nil {
                "Failed: \(version)"
            } else {
                "Interrupted\(isUnderWay == nil ? " or under way" : ""): \(version)"
            }
        var lines: [Message] = ["\(subject), \(counts)"]
        if let checkpointAppVersion {
            let progress: Message = progress.map { " at \(Int($0 * 100)) %" } ?? ""
            lines.append("  A checkpoint was saved\(progress) by app version \(checkpointAppVersion).")
        }
        if let lease {
            let length = JSON.seconds(lease.length)
            lines.append("  Host: \(lease.owner). Its lease runs out if it isn't renewed for \(length) s.")
        }
        if let failure {
            lines.append("  Error: \(failure)")
        } else if isCancelled {
            lines.append("  Error: \(Interruption.cancellation)")
        }
        if awaitsRestore { lines.append("  Protected files have to be restored.") }
        return lines
    }
}
