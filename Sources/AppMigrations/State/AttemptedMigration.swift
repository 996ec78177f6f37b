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

    /// True if every attempt so far ended while it copied the protected files, or is still copying them.
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
    /// If so, the closure may have changed the data. An older release of the app then refuses to run its
    /// pending migrations.
    package var hasBegun: Bool { !isCopying }

    /// Returns the record with one more attempt, made by version `newAppVersion` of the app.
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

    /// Returns the record with `deaths` as its death count.
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

    /// Returns the record to save before this attempt copies the protected files.
    ///
    /// Its ``isCopying`` is true, unless one of the `earlier` attempts already called the closure.
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
