/// The attempts at a migration that is not recorded yet.
package final class AttemptedMigration: Sendable {
    package let version: AppVersion

    /// The number of attempts.
    package let attempts: Int

    /// The number of processes of `appVersion` that died in an attempt, since the last checkpoint that
    /// changed.
    package let deaths: Int

    /// The version of the app that made the latest attempt.
    package let appVersion: AppVersion

    /// The latest checkpoint of all attempts.
    package let checkpoint: Checkpoint?

    /// True while no attempt has got further than copying the protected files.
    ///
    /// No closure has been called then, so the data is unchanged.
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

    /// True if a closure was called.
    ///
    /// The data may be changed then, and other releases of the app have to respect that.
    package var hasBegun: Bool { !isCopying }

    /// Returns the next attempt, by an app at version `app`.
    ///
    /// A new version of the app starts the count of deaths again.
    func nextAttempt(by app: AppVersion) -> AttemptedMigration {
        AttemptedMigration(
            version,
            attempts: attempts + 1,
            deaths: app == appVersion ? deaths : 0,
            by: app,
            checkpoint: checkpoint
        )
    }

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

    /// Returns this attempt as it is while the protected files are copied, after `earlier` attempts if there
    /// were any.
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
