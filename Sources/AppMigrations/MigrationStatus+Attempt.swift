extension MigrationStatus {
    /// A migration that was started and isn't recorded as done: all attempts at it together.
    public struct Attempt: Sendable {
        /// The version of the migration.
        public let version: AppVersion

        /// How many times its closure has been called.
        public let attempts: Int

        /// How many processes of ``appVersion`` crashed while they ran the migration.
        ///
        /// This number is compared with `attemptLimit`. It begins again at 0 when the closure saves a
        /// checkpoint that differs from the previous one.
        ///
        /// The process of the last attempt counts too, unless its closure threw or is still running. If
        /// several hosts share the data (a fleet), it doesn't count either while its host's lease is valid.
        public let deaths: Int

        /// The version of the app that made the last attempt.
        public let appVersion: AppVersion

        /// When the last attempt began, in seconds since 1970, UTC.
        ///
        /// Only ``MigrationStatus/interruption`` has it.
        public let startedAt: Int64?

        /// The text of the error with which the closure ended the last attempt, at most 1,000 characters.
        ///
        /// Only ``MigrationStatus/interruption`` has it. It is `nil` while the migration is running, and if
        /// its task was cancelled or its process crashed. If `resetAttempts()` was called after a crash, it
        /// is a text that says that the process crashed.
        public let failure: String?

        /// The text that the closure saved with `saveCheckpoint`.
        ///
        /// The next attempt continues from there.
        public let checkpoint: String?

        /// The version of the app that saved ``checkpoint``.
        public let checkpointAppVersion: AppVersion?

        /// How much was done at the checkpoint, from 0 to 1.
        public let progress: Double?

        /// True if a process is running the migration now; `nil` if that is unknown.
        public let isUnderWay: Bool?

        /// True if protected files have to be restored.
        ///
        /// The next start that isn't read-only restores them.
        public let awaitsRestore: Bool

        /// True if the task of the last attempt was cancelled, in which case ``failure`` is `nil`.
        private var isCancelled = false

        /// The lease of the host that made the last attempt.
        ///
        /// It is `nil` if the host has ended its lease, or if the state isn't shared by several hosts.
        ///
        /// It isn't part of ``json``.
        private var lease: Lease?

        /// Makes a value for previews and tests of a screen that shows a status.
        ///
        /// - Parameters:
        ///   - version: The version of the migration.
        ///   - attempts: How many times its closure has been called.
        ///   - deaths: How many processes of `appVersion` crashed while they ran the migration.
        ///   - appVersion: The version of the app that made the last attempt.
        ///   - startedAt: When the last attempt began, in seconds since 1970, UTC.
        ///   - failure: The text of the error that ended the last attempt.
        ///   - checkpoint: The text that the closure saved.
        ///   - checkpointAppVersion: The version of the app that saved `checkpoint`; `nil` means
        ///     `appVersion`, if there is a checkpoint.
        ///   - progress: How much was done at the checkpoint, from 0 to 1.
        ///   - isUnderWay: True if a process is running the migration now; `nil` if that is unknown.
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
    /// Makes the attempts at a pending migration other than the interrupted one.
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

    /// Makes the attempts at the interrupted migration.
    ///
    /// `isUnderWay` says whether a process is running it; `nil` if that is unknown.
    init(_ interruption: Interruption, isUnderWay: Bool?) {
        // While a process may be running the migration, the last attempt doesn't count as a crash.
        let mayBeRunning = isUnderWay ?? (interruption.lease != nil)
        let attempted = mayBeRunning ? interruption.attempt : interruption.outcome
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
        lease = interruption.lease
    }
}

// How an attempt is printed and written as JSON.
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
            "attempts: \(attempts), crashes: \(deaths), last attempt by app version \(appVersion)\(begun)"
        let subject: Message =
            if !isInterrupted {
                "Pending: \(version), tried before"
            } else if isUnderWay ?? (lease != nil) {
                "Under way: \(version)"
            } else if failure != nil {
                "Failed: \(version)"
            } else {
                "Interrupted\(isUnderWay == nil ? " or under way" : ""): \(version)"
            }
        var lines: [Message] = ["\(subject), \(counts)"]
        if let checkpointAppVersion {
            let progress: Message = progress.map { " at \(Int($0 * 100)) %" } ?? ""
            lines.append("  A checkpoint\(progress) was saved by app version \(checkpointAppVersion).")
        }
        if let lease {
            let length = JSON.seconds(lease.length)
            let sign: Message =
                switch isUnderWay {
                case true?: "It is alive: it has just renewed its lease."
                case false?:
                    """
                    It hasn't renewed its lease for \(length) s. Its process has probably ended. The next host takes over.
                    """
                case nil: "Its lease expires \(length) s after its last renewal."
                }
            lines.append("  Host: \(lease.owner). \(sign)")
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
