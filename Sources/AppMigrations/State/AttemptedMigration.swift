/// A migration that isn't recorded as applied yet, with the count of its attempts.
package final class AttemptedMigration: Sendable {
    package let version: AppVersion

    /// The number of attempts.
    ///
    /// In a decision to run the migration, it includes the attempt that is about to begin.
    package let attempts: Int

    /// How many processes of version `appVersion` of the app crashed during an attempt.
    ///
    /// ``MigrationState/withCheckpoint(_:progress:comparedWith:)`` sets it to zero when an attempt gets
    /// further than the attempts before it.
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

    /// True from the time when a start has restored the protected files of an earlier attempt, until the next
    /// attempt begins, or until a ``PendingMigration/ReasonNotToRun`` was asked.
    ///
    /// An older release of the app may have written to the files before the restore. So what that release
    /// recorded elsewhere, for example in the user defaults, may be wrong.
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

    /// Returns the record with other values; a value that is `nil` is kept.
    func with(
        deaths: Int? = nil,
        checkpoint: Checkpoint? = nil,
        isRestored: Bool? = nil
    ) -> AttemptedMigration {
        AttemptedMigration(
            version,
            attempts: attempts,
            deaths: deaths ?? self.deaths,
            by: appVersion,
            checkpoint: checkpoint ?? self.checkpoint,
            isCopying: isCopying,
            isRestored: isRestored ?? self.isRestored
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
