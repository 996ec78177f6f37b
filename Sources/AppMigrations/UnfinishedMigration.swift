/// A migration that was started and isn't recorded as done: all attempts at it together.
public struct UnfinishedMigration: Sendable {
    /// The version of the migration.
    public let version: AppVersion

    /// How many times its closure has been called.
    public let attemptCount: Int

    /// How many processes of ``appVersion`` crashed while they ran the migration.
    ///
    /// This number is compared with `attemptLimit`. It begins again at 0 when the closure saves a
    /// checkpoint that differs from the previous one.
    ///
    /// The process of the last attempt counts too, unless its closure threw or is still running. If
    /// several hosts share the data (a fleet), it doesn't count either while its host's lease is valid.
    public let crashCount: Int

    /// The version of the app that made the last attempt.
    public let appVersion: AppVersion

    /// When the last attempt began, in seconds since 1970, UTC.
    ///
    /// Only ``MigrationStatus/latestAttempt`` has it.
    public let startedAt: Int64?

    /// The text of the error with which the closure ended the last attempt, at most 1,000 characters.
    ///
    /// Only ``MigrationStatus/latestAttempt`` has it. It is `nil` while the migration is running, and if
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

    /// True if the task of the last attempt was cancelled, in which case ``failure`` is `nil`.
    private var isCancelled = false

    /// Lines about the host that has the lease of this attempt, from a module on top of the core; empty if no
    /// host has it.
    ///
    /// They aren't part of ``json``.
    private var holder: [String] = []

    /// Makes a value for previews and tests of a screen that shows a status.
    ///
    /// - Parameters:
    ///   - version: The version of the migration.
    ///   - attemptCount: How many times its closure has been called.
    ///   - crashCount: How many processes of `appVersion` crashed while they ran the migration.
    ///   - appVersion: The version of the app that made the last attempt.
    ///   - startedAt: When the last attempt began, in seconds since 1970, UTC.
    ///   - failure: The text of the error that ended the last attempt.
    ///   - checkpoint: The text that the closure saved.
    ///   - checkpointAppVersion: The version of the app that saved `checkpoint`; `nil` means
    ///     `appVersion`, if there is a checkpoint.
    ///   - progress: How much was done at the checkpoint, from 0 to 1.
    ///   - isUnderWay: True if a process is running the migration now; `nil` if that is unknown.
    public init(
        version: AppVersion,
        attemptCount: Int = 1,
        crashCount: Int = 0,
        appVersion: AppVersion,
        startedAt: Int64? = nil,
        failure: String? = nil,
        checkpoint: String? = nil,
        checkpointAppVersion: AppVersion? = nil,
        progress: Double? = nil,
        isUnderWay: Bool? = false
    ) {
        self.version = version
        self.attemptCount = attemptCount
        self.crashCount = crashCount
        self.appVersion = appVersion
        self.startedAt = startedAt
        self.failure = failure
        self.checkpoint = checkpoint
        self.checkpointAppVersion = checkpointAppVersion ?? (checkpoint == nil ? nil : appVersion)
        self.progress = progress.map(MigrationContext.fraction)
        self.isUnderWay = isUnderWay
    }
}

extension UnfinishedMigration {
    /// Makes the attempts at a pending migration other than the latest one.
    init(_ attempted: AttemptedMigration) {
        self.init(
            version: attempted.version,
            attemptCount: attempted.attemptCount,
            crashCount: attempted.crashCount,
            appVersion: attempted.appVersion,
            checkpoint: attempted.checkpoint?.text,
            checkpointAppVersion: attempted.checkpoint?.appVersion,
            progress: attempted.checkpoint?.progress
        )
    }

    /// Makes the latest attempt.
    ///
    /// `isUnderWay` says whether a process is running it; `nil` if that is unknown.
    init(_ latest: LatestAttempt, isUnderWay: Bool?, heldBy holder: [String]) {
        // Unless its process is known to have ended, the last attempt doesn't count as a crash.
        let attempted = isUnderWay == false ? latest.outcome : latest.migration
        let isCancelled = latest.failure == LatestAttempt.cancellation
        self.init(
            version: attempted.version,
            attemptCount: attempted.attemptCount,
            crashCount: attempted.crashCount,
            appVersion: attempted.appVersion,
            startedAt: latest.startedAt,
            failure: isCancelled ? nil : latest.failure,
            checkpoint: attempted.checkpoint?.text,
            checkpointAppVersion: attempted.checkpoint?.appVersion,
            progress: attempted.checkpoint?.progress,
            isUnderWay: isUnderWay
        )
        self.isCancelled = isCancelled
        self.holder = holder
    }
}

// How an attempt is printed and written as JSON.
extension UnfinishedMigration {
    var json: String {
        JSON.object(
            [
                ("version", version.json),
                ("attemptCount", JSON.count(attemptCount)),
                ("crashCount", JSON.count(crashCount)),
                ("appVersion", appVersion.json),
                ("checkpoint", checkpoint?.quoted),
                ("checkpointAppVersion", checkpointAppVersion?.json),
                ("progress", progress?.description),
                ("startedAt", startedAt.map { Timestamp.text($0).quoted }),
                ("failure", failure?.quoted),
                ("isUnderWay", isUnderWay?.description),
            ]
        )
    }

    func lines(isLatest: Bool) -> [Message] {
        let begun: Message = startedAt.map { ", begun \(Timestamp.text($0))" } ?? ""
        let counts: Message =
            "attempts: \(attemptCount), crashes: \(crashCount), last attempt by app version \(appVersion)\(begun)"
        let subject: Message =
            if !isLatest {
                "Pending: \(version), tried before"
            } else if isUnderWay ?? !holder.isEmpty {
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
        lines += holder.map { Message($0) }
        if let failure {
            lines.append("  Error: \(failure)")
        } else if isCancelled {
            lines.append("  Error: \(LatestAttempt.cancellation)")
        }
        return lines
    }
}
