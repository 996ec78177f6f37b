/// The attempts so far to run one migration that hasn't been recorded as applied yet.
package final class AttemptedMigration: Sendable {
    package let version: AppVersion

    /// The number of attempts.
    package let attempts: Int

    /// How many processes of version `appVersion` died during an attempt.
    ///
    /// The count restarts at zero when an attempt saves a checkpoint that differs from the one it began with.
    package let deaths: Int

    /// The version of the app that made the latest attempt.
    package let appVersion: AppVersion

    /// The most recent checkpoint that any of the attempts saved.
    package let checkpoint: Checkpoint?

    /// True if no attempt so far has got past copying the protected files.
    ///
    /// In that case the closure was never called, so the data is unchanged.
    package let isCopying: Bool

    package init(
        _ version: AppVersion,
        attempts: Int = 1,
        deaths: Int = 0,
        by appVersion: AppVersion,
        checkpoint: Checkpoint? = nil,
        isCopying: Bool = false
    ) {
        self.version = version
        self.attempts = attempts
        self.deaths = deaths
        self.appVersion = appVersion
        self.checkpoint = checkpoint
        self.isCopying = isCopying
    }

    /// True if the migration's closure was called in any attempt.
    ///
    /// If so, the data may have been changed, and other releases of the app have to take that into account.
    package var hasBegun: Bool { !isCopying }

    /// Returns the record for one more attempt, which version `newAppVersion` of the app makes.
    ///
    /// If that is a different version from the last attempt's, the death count is reset to zero.
    func nextAttempt(by newAppVersion: AppVersion) -> AttemptedMigration {
        AttemptedMigration(
            version,
            attempts: attempts + 1,
            deaths: newAppVersion == appVersion ? deaths : 0,
            by: newAppVersion,
            checkpoint: checkpoint
        )
    }

    /// Returns the record with another death count.
    ///
    /// If `checkpoint` is `nil`, the current one is kept.
    func with(deaths: Int, checkpoint: Checkpoint? = nil) -> AttemptedMigration {
        AttemptedMigration(
            version,
            attempts: attempts,
            deaths: deaths,
            by: appVersion,
            checkpoint: checkpoint ?? self.checkpoint,
            isCopying: isCopying
        )
    }

    /// Returns the record as it is saved while this attempt copies its protected files.
    ///
    /// If one of the `earlier` attempts already called the closure, ``isCopying`` stays false.
    func copying(after earlier: AttemptedMigration?) -> AttemptedMigration {
        AttemptedMigration(
            version,
            attempts: attempts,
            deaths: deaths,
            by: appVersion,
            checkpoint: checkpoint,
            isCopying: !(earlier?.hasBegun ?? false)
        )
    }
}
