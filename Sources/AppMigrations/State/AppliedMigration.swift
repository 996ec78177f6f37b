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

    package init(
        version: AppVersion,
        previousVersion: AppVersion,
        appVersion: AppVersion,
        finishedAt: Int64,
        duration: Duration,
        attempts: Int
    ) {
        self.version = version
        self.previousVersion = previousVersion
        self.appVersion = appVersion
        self.finishedAt = finishedAt
        self.duration = duration
        self.attempts = attempts
    }
}
