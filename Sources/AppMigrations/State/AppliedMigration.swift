/// A migration that ran and was recorded: a row of the history.
public struct AppliedMigration: Sendable, Equatable {
    /// The migration's version.
    public let version: AppVersion

    /// The last-run version before this migration ran.
    public let previousVersion: AppVersion

    /// The version of the app that ran the migration.
    public let appVersion: AppVersion

    /// When the migration finished, in seconds since 1970, UTC.
    public let finishedAt: Int64

    /// How long the closure took in the attempt that succeeded.
    public let duration: Duration

    /// The number of attempts, including the attempt that succeeded.
    public let attemptCount: Int

    /// Makes a row for previews and tests of a screen that shows the history.
    ///
    /// - Parameters:
    ///   - version: The migration's version.
    ///   - previousVersion: The last-run version before the migration ran.
    ///   - appVersion: The version of the app that ran the migration.
    ///   - finishedAt: When the migration finished, in seconds since 1970, UTC.
    ///   - duration: How long the closure took in the attempt that succeeded.
    ///   - attemptCount: The number of attempts, including the attempt that succeeded.
    public init(
        version: AppVersion,
        previousVersion: AppVersion,
        appVersion: AppVersion,
        finishedAt: Int64,
        duration: Duration = .zero,
        attemptCount: Int = 1
    ) {
        self.version = version
        self.previousVersion = previousVersion
        self.appVersion = appVersion
        self.finishedAt = finishedAt
        self.duration = duration
        self.attemptCount = attemptCount
    }
}

extension AppliedMigration {
    /// Makes the row for an attempt that succeeded.
    package init(
        _ attempted: AttemptedMigration,
        after previousVersion: AppVersion,
        at time: Int64,
        in duration: Duration
    ) {
        self.init(
            version: attempted.version,
            previousVersion: previousVersion,
            appVersion: attempted.appVersion,
            finishedAt: time,
            duration: duration,
            attemptCount: attempted.attemptCount
        )
    }
}
