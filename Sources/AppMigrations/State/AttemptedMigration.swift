/// The attempts so far to run one migration that hasn't been recorded as applied yet.
package final class AttemptedMigration: Sendable {
    package let version: AppVersion

    /// The number of attempts.
    package let attempts: Int

    /// How many processes of version `appVersion` of the app crashed during an attempt.
    ///
    /// The count is set to zero when an attempt saves a checkpoint that differs from the checkpoint with
    /// which the attempt began.
    package let deaths: Int

    /// The version of the app that made the latest attempt.
    package let appVersion: AppVersion

    /// The most recent checkpoint that any of the attempts saved.
    package let checkpoint: Checkpoint?

    /// True if no attempt so far has called the closure: each ended while it copied the protected files, or
    /// is still copying them.
    ///
    /// In that case, the migration hasn't changed the data.
    package let isCopying: Bool

    /// True if a later start restored the protected files, and no attempt has begun since.
    ///
    /// An older release of the app may have written to the files before the restore. So what that release
    /// recorded elsewhere, for example in the user defaults, may be wrong now.
    let isRestored: Bool

    package init(
        _ version: AppVersion,
        attempts: Int = 1,
        deaths: Int = 0,
        by appVersion: AppVersion,
        checkpoint: Checkpoint? = nil,
        isCopying: Bool = false,
        isRestored: Bool = false
    ) {
        self.version = version
        self.attempts = attempts
        self.deaths = deaths
        self.appVersion = appVersion
        self.checkpoint = checkpoint
        self.isCopying = isCopying
        self.isRestored = isRestored
    }

    /// True if the migration's closure was called in any attempt.
    ///
    /// In that case, the closure may have changed the data. So an older release of the app refuses to run its
    /// pending migrations.
    package var hasBegun: Bool { !isCopying }

    /// Returns the record with one more attempt, made by version `newAppVersion` of the app.
    ///
    /// If the last attempt was made by another version of the app, the count of crashes is set to zero.
    func nextAttempt(by newAppVersion: AppVersion) -> AttemptedMigration {
        AttemptedMigration(
            version,
            attempts: attempts + 1,
            deaths: newAppVersion == appVersion ? deaths : 0,
            by: newAppVersion,
            checkpoint: checkpoint
        )
    }

    /// Returns the record with `deaths` as its count of crashes.
    ///
    /// If `checkpoint` is `nil`, the current checkpoint is kept.
    func with(deaths: Int, checkpoint: Checkpoint? = nil) -> AttemptedMigration {
        AttemptedMigration(
            version,
            attempts: attempts,
            deaths: deaths,
            by: appVersion,
            checkpoint: checkpoint ?? self.checkpoint,
            isCopying: isCopying,
            isRestored: isRestored
        )
    }

    /// Returns the record with `isRestored` as its ``isRestored``.
    func with(isRestored: Bool) -> AttemptedMigration {
        AttemptedMigration(
            version,
            attempts: attempts,
            deaths: deaths,
            by: appVersion,
            checkpoint: checkpoint,
            isCopying: isCopying,
            isRestored: isRestored
        )
    }

    /// Returns the record to save before this attempt copies the protected files.
    ///
    /// Its ``isCopying`` is true, unless one of the `earlier` attempts already called the closure.
    func markedAsCopying(after earlier: AttemptedMigration?) -> AttemptedMigration {
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
