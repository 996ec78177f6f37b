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
