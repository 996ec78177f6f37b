extension MigrationManager {
    /// The options of a manager: how long to wait for the lock, how often to try a migration, the oldest data
    /// to upgrade, whether the manager is read-only, and the handler of events.
    public struct Options: Sendable {
        /// How long to wait while another process is migrating.
        ///
        /// Time during which the machine is asleep doesn't count. If it is `nil`, there is no limit. If it is
        /// zero, the manager waits 10 ms.
        public var lockTimeout: Duration?

        /// How many processes of one app version may crash while they run the same migration.
        ///
        /// After that, the next start throws `attemptLimitReached` and doesn't run the migration. If it is
        /// `nil`, there is no limit. A number below 1 counts as 1.
        public var attemptLimit: Int?

        /// The oldest version of the data from which this app upgrades; `nil` if it upgrades from every
        /// version.
        ///
        /// If you remove the oldest migrations from your app, set this to the version of the newest migration
        /// that you removed. Then the manager's `init` throws `tooOld` if ``MigrationManager/lastRunVersion``
        /// is below that version, or if `firstRun:` is `existingData(at:)` with a version below it. So data
        /// that still needs a removed migration is refused, and the app never uses it unmigrated.
        ///
        /// Use a version that had a migration, because only migrations raise the last-run version. A fresh
        /// install is never too old. A first run with ``MigrationManager/FirstRun/everything`` is never too
        /// old either: it begins without data, and runs all declared migrations, which have to create the
        /// data.
        public var upgradesFrom: String?

        /// True if the manager is read-only: it writes nothing, waits for no lock, and runs no migration.
        ///
        /// So a read-only manager needs no permission to write. To find out whether a closure is running, it
        /// takes a shared lock for a moment, if that lock is free.
        ///
        /// ``MigrationManager/plan(_:)-9ywei``, ``MigrationManager/status`` and the properties work as usual.
        /// A declaration whose migration would have to run throws the code `readOnly`. If there is no state,
        /// `firstRun:` is evaluated, but its value isn't saved. So the next manager evaluates `firstRun:`
        /// again.
        public var isReadOnly: Bool

        /// Called for each event, on the thread of the call that causes it, for a log or a progress display.
        ///
        /// If the handler declares a migration of this manager's state, that call throws `nested`. The lock
        /// is held while the handler runs, except for the events `waiting` and `failed`. So the handler must
        /// not wait for another thread that declares a migration of this state: it would wait forever.
        public var onEvent: (@Sendable (MigrationEvent) -> Void)?

        /// Makes options.
        ///
        /// By default, the manager waits for the lock without limit, tries a migration without limit,
        /// upgrades from every version, isn't read-only, and has no handler.
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
