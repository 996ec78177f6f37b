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

    /// True if a working folder may be left of this attempt.
    ///
    /// A failed attempt has left none: its failure is saved after the original is in its place again. An
    /// attempt that crashed may have left one. ``MigrationManager/resetAttempts()`` saves a failure for such
    /// an attempt, which can be told by its text.
    var mayHaveLeftReplacement: Bool {
        migration.replacing != nil && (failure == nil || failure == Self.resetAfterCrash)
    }
}
