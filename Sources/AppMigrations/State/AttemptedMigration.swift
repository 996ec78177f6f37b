/// A migration that isn't recorded as applied yet, with the count of its attempts.
package struct AttemptedMigration: Sendable, Equatable {
    package let version: AppVersion

    /// The number of attempts.
    ///
    /// In a decision to run the migration, it includes the attempt that is about to begin.
    package private(set) var attemptCount: Int

    /// How many processes of version `appVersion` of the app crashed during an attempt.
    ///
    /// ``MigrationState/saveCheckpoint(_:progress:comparedWith:)`` sets it to zero when an attempt gets
    /// further than the attempts before it.
    package var crashCount: Int

    /// The version of the app that made the latest attempt.
    package private(set) var appVersion: AppVersion

    /// The most recent checkpoint that any of the attempts saved.
    package var checkpoint: Checkpoint?

    /// The path of the file or folder that the latest attempt replaces, as seen from the state directory;
    /// `nil` if its closure works in place.
    var replacing: String?

    /// The minimum app version to set with the record, if the latest attempt replaces something.
    ///
    /// Until the replacement, nothing has changed for another version of the app.
    var minimumAppVersion: AppVersion?

    package init(
        _ version: AppVersion,
        attemptCount: Int = 1,
        crashCount: Int = 0,
        by appVersion: AppVersion,
        checkpoint: Checkpoint? = nil
    ) {
        self.version = version
        self.attemptCount = attemptCount
        self.crashCount = crashCount
        self.appVersion = appVersion
        self.checkpoint = checkpoint
    }

    /// Returns the record with one more attempt, made by version `newAppVersion` of the app.
    ///
    /// If the last attempt was made by another version of the app, the count of crashes is set to zero.
    func nextAttempt(by newAppVersion: AppVersion) -> AttemptedMigration {
        var next = self
        next.attemptCount += 1
        if newAppVersion != appVersion { next.crashCount = 0 }
        next.appVersion = newAppVersion
        return next
    }
}

/// The latest attempt at a migration that hasn't been recorded as applied yet.
///
/// It is saved in the state before the closure is called. So the attempt may still be running, or it has
/// failed, or its process has crashed.
package struct LatestAttempt: Sendable, Equatable {
    /// All attempts at the migration, including the latest one.
    ///
    /// Its count of crashes doesn't include the latest attempt, even if its process crashed.
    package var migration: AttemptedMigration

    package let startedAt: Int64

    /// The text of the error that ended the attempt; `nil` while the closure runs, or if its process crashed.
    package var failure: String?

    package init(_ migration: AttemptedMigration, at startedAt: Int64, failure: String? = nil) {
        self.migration = migration
        self.startedAt = startedAt
        self.failure = failure
    }

    package var version: AppVersion { migration.version }

    /// The record of all attempts, if the latest attempt isn't running any more.
    ///
    /// If the latest attempt has no failure, its process must have crashed, so the crash is counted.
    var outcome: AttemptedMigration {
        var outcome = migration
        if failure == nil { outcome.crashCount += 1 }
        return outcome
    }

    /// The text that is saved as the failure of an attempt whose task was cancelled.
    ///
    /// The manager's status doesn't report this text as a failure.
    static var cancellation: String { "The task was cancelled." }

    /// The text that `resetAttempts()` saves as the failure of an attempt whose process crashed.
    static var resetAfterCrash: String {
        "The process crashed in this attempt. Later, resetAttempts() was called."
    }
}
