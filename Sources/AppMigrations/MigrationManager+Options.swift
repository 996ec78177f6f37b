extension MigrationManager {
    /// The time-out of the lock, the limit of attempts, the oldest data to upgrade, whether the manager is
    /// read-only, and the handler of events.
    public struct Options: Sendable {
        /// How long to wait while another process is migrating.
        ///
        /// Time in which the machine sleeps doesn't count.
        ///
        /// `nil` waits as long as it takes. Zero waits 10 ms.
        public var lockTimeout: Duration?

        /// How many processes of one app version may die in one migration before the next start throws
        /// `attemptLimitReached` instead of running it.
        ///
        /// `nil` is no limit, and a number below 1 counts as 1.
        public var attemptLimit: Int?

        /// The oldest version from which this app upgrades; `nil` upgrades from every version.
        ///
        /// If you remove the oldest migrations from your app, set this to the newest version that you
        /// removed. Then `init` throws `tooOld` for a state whose ``MigrationManager/lastRunVersion`` is
        /// below it, and for a `firstRun:` of `existingData(at:)` below it. So data that still needs one of
        /// the removed migrations is refused, and isn't used without it.
        ///
        /// Name a version that had a migration, because only migrations raise the last-run version. A fresh
        /// install is never too old. A first run with `everything` isn't too old either. It begins without
        /// data and runs all declared migrations, which have to create all of the data.
        public var upgradesFrom: String?

        /// True if the manager is read-only: it writes and restores nothing, takes no lock, and runs no
        /// migration.
        ///
        /// So it needs no permission to write, and never waits. ``MigrationManager/plan(_:)-9ywei``,
        /// ``MigrationManager/status`` and the properties work as usual. A declaration that has something to
        /// run throws the code `readOnly`. If there is no state, `firstRun:` is evaluated, and only this
        /// manager remembers the value. It isn't saved, so a manager that isn't read-only evaluates
        /// `firstRun:` again.
        public var isReadOnly: Bool

        /// Called on the caller's thread for each event, for a log or a progress display.
        ///
        /// A handler that declares a migration of the same state gets the error `nested`. The lock is held
        /// while the handler runs, except during `waiting` and `failed`. So a handler that waits for another
        /// thread which declares a migration of this state waits for ever.
        public var onEvent: (@Sendable (MigrationEvent) -> Void)?

        /// Makes options.
        ///
        /// Without arguments, the manager waits as long as it takes, tries without limit, upgrades from every
        /// version, may write, and has no handler.
        public init(
            lockTimeout: Duration? = nil,
            attemptLimit: Int? = nil,
            upgradesFrom: String? = nil,
            isReadOnly: Bool = false,
            onEvent: (@Sendable (MigrationEvent) -> Void)? = nil
        ) {
            self.lockTimeout = lockTimeout
            self.attemptLimit = attemptLimit
            self.upgradesFrom = upgradesFrom
            self.isReadOnly = isReadOnly
            self.onEvent = onEvent
        }
    }
}
