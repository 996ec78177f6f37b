extension MigrationManager {
    /// How long to wait, how often to try, how old data may be, whether only to look, and the handler of events.
    public struct Options: Sendable {
        /// How long to wait for another process that is migrating, or for another manager that protects the same files, while the
        /// machine is awake; `nil` waits as long as it takes, and zero for 10 ms.
        public var lockTimeout: Duration?

        /// How many processes of one app version may die in one migration before the next start throws
        /// `attemptLimitReached` instead of running it; `nil` is no limit, and less than 1 counts as 1.
        public var attemptLimit: Int?

        /// The oldest version from which this app upgrades; `nil` upgrades from every version.
        ///
        /// An app that stops declaring its oldest migrations names the newest one that it left out: a state whose
        /// ``MigrationManager/lastRunVersion`` lies below, or a `firstRun:` of `existingData(at:)`, makes `init` throw `tooOld`,
        /// and what is no longer there isn't skipped. A mark rises by migrations alone, so name no version that had none. A fresh
        /// install is never too old. With `everything` a first run begins at nothing, which is not too old either: what is
        /// declared has to build all of it.
        public var upgradesFrom: String?

        /// Whether the manager only looks: it reads, and makes, saves and puts back nothing, and runs nothing under the lock.
        ///
        /// So it needs no right to write, and never waits. ``MigrationManager/plan(_:)-9ywei``,
        /// ``MigrationManager/history`` and what else only tells work as ever; a declaration that has something to run throws
        /// the code `readOnly`. Where there is no state the first run is asked for, and its answer is kept by this manager
        /// alone: a manager that may write asks again.
        public var isReadOnly: Bool

        /// Called on the thread of the caller for everything that a log or a progress display wants to know.
        ///
        /// A handler that declares a migration of the same state gets `nested`. Don't block in the handler on a thread that declares
        /// one: the lock is held, but for the events `waiting` and `failed`, so both would wait for ever.
        public var onEvent: (@Sendable (MigrationEvent) -> Void)?

        /// Without arguments: waits as long as it takes, tries without limit, upgrades from every version, may write, and has no
        /// handler.
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
