/// A migration that ran and was recorded: a row of the history.
public struct AppliedMigration: Sendable, Equatable {
    /// The migration's version.
    public let version: AppVersion

    /// The version of the newest migration that had been applied before this one ran.
    public let previousVersion: AppVersion

    /// The version of the app that ran it.
    public let appVersion: AppVersion

    /// When it finished, in seconds since 1970, UTC.
    public let finishedAt: Int64

    /// How long its closure took in the attempt that succeeded.
    public let duration: Duration

    /// How many times it was attempted, including the attempt that succeeded.
    public let attempts: Int

    /// Creates a row.
    ///
    /// Use it for a preview or a test of a screen that shows the history.
    ///
    /// - Parameters:
    ///   - version: The migration's version.
    ///   - previousVersion: The last-run version before it ran.
    ///   - appVersion: The version of the app that ran it.
    ///   - finishedAt: When it finished, in seconds since 1970, UTC.
    ///   - duration: How long its closure took in the attempt that succeeded.
    ///   - attempts: How many times it was attempted, including the attempt that succeeded.
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
    /// The row for an attempt that succeeded.
    package init(
        _ attempt: AttemptedMigration,
        after previousVersion: AppVersion,
        at time: Int64,
        in duration: Duration
    ) {
        self.init(
            version: attempt.version,
            previousVersion: previousVersion,
            appVersion: attempt.appVersion,
            finishedAt: time,
            duration: duration,
            attempts: attempt.attempts
        )
    }
}
