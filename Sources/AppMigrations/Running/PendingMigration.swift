/// A migration whose closure is about to be called, for code that decides whether it still has to run.
package struct PendingMigration {
    package let version: AppVersion

    /// The version of the data before this migration (the last-run version).
    package let previousVersion: AppVersion

    /// True if the protected files were restored after an earlier attempt, and no attempt has begun since.
    ///
    /// The restore happened in a later start. Between the attempt and the restore, an older release of the
    /// app may have run this migration and later ones. On these files, the restore has undone its work.
    package let isRestored: Bool

    /// Returns the reason why a pending migration doesn't have to run; `nil` if it has to run.
    ///
    /// It is called while the lock is held. If it returns a text, the migration is recorded without an
    /// attempt, and the text is the note of the event `finished`.
    package typealias ReasonNotToRun = (PendingMigration) throws -> String?
}
