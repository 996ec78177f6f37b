/// A migration that isn't recorded as run yet, for code that decides whether its closure has to be called.
package struct PendingMigration {
    package let version: AppVersion

    /// The version of the data before this migration (the last-run version).
    package let previousVersion: AppVersion

    /// See ``AttemptedMigration/isRestored``.
    package let isRestored: Bool

    /// Returns the reason why a pending migration doesn't have to run; `nil` if it has to run.
    ///
    /// It is called while the lock is held, and may write, for example to the user defaults. If it returns a
    /// text, the migration is recorded without an attempt, and the text is the note of the event `finished`.
    package typealias ReasonNotToRun = (PendingMigration) throws -> String?
}
