/// A record that another library keeps of the same migrations, for releases of the app that use that library.
///
/// This is all that the core knows of the product for old libraries.
package struct OtherRecord {
    let reasonNotToRun: ReasonNotToRun
    let didRecord: DidRecord

    /// Returns the reason why a pending migration doesn't have to run; `nil` if it has to run.
    ///
    /// It is called while the lock is held, and may write, for example to the user defaults. If it returns a
    /// text, the migration is recorded without an attempt, and the text is the note of the event `finished`.
    package typealias ReasonNotToRun = (_ pending: PendingMigration) throws -> String?

    /// Is called while the lock is held, as soon as a version that ran is recorded in the state.
    ///
    /// What the migration has replaced is removed after this call. That can take seconds, and a process that
    /// dies meanwhile must not leave two records that differ.
    ///
    /// It can't throw, because the version counts as run, whether the other record says so or not.
    package typealias DidRecord = (_ version: AppVersion) -> Void

    package init(reasonNotToRun: @escaping ReasonNotToRun, didRecord: @escaping DidRecord) {
        self.reasonNotToRun = reasonNotToRun
        self.didRecord = didRecord
    }
}

/// The pending migration for which an ``OtherRecord`` is asked, and the version of the data before it.
package struct PendingMigration {
    package let version: AppVersion
    package let previousVersion: AppVersion
}
