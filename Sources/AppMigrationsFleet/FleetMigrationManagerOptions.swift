public import AppMigrations

extension FleetMigrationManager {
    /// How long a lease is, how long to wait, how often to try, how old data may be, whether only to look, and the handler of
    /// events.
    public struct Options: Sendable {
        /// How long other hosts have to see no sign of the host that runs a migration before one of them takes over.
        ///
        /// The host renews its lease six times in it, and gives up where it could not for half of it. It bounds how long a fleet
        /// stands still after a death, and not how long a migration may take. It is a second at least, and a day at
        /// most. Hosts may differ: what counts is the length that the host at work has written.
        public var leaseDuration: Duration

        /// How long to wait for another host that is migrating; `nil` waits as long as it takes.
        ///
        /// A bound that is shorter than the longest migration restarts healthy hosts again and again.
        public var lockTimeout: Duration?

        /// How many hosts with one app version may die in one migration before the next start throws `attemptLimitReached`
        /// instead of running it; `nil` is no limit, and less than 1 counts as 1.
        ///
        /// Give the hosts that only wait the same limit: ``FleetMigrationManager/untilMigrated(timeout:_:)`` ends there.
        public var attemptLimit: Int?

        /// The oldest version from which this app upgrades; `nil` upgrades from every version.
        ///
        /// Data below it makes `init` throw `tooOld`, and what is no longer declared isn't skipped.
        public var upgradesFrom: String?

        /// True for a manager that only looks: it reads, and writes nothing to the store.
        ///
        /// For the hosts that wait for a migration job. ``FleetMigrationManager/isMigrated(_:)`` and what else only tells work as
        /// ever; a declaration that has something to run throws the code `readOnly`.
        public var isReadOnly: Bool

        /// Called for everything that a log or a progress display wants to know, on the thread of the caller.
        public var onEvent: (@Sendable (MigrationEvent) -> Void)?

        /// Without arguments: a lease of 30 seconds, waits as long as it takes, tries without limit, upgrades from every version,
        /// may write, and has no handler.
        public init(
            leaseDuration: Duration = .seconds(30),
            lockTimeout: Duration? = nil,
            attemptLimit: Int? = nil,
            upgradesFrom: String? = nil,
            isReadOnly: Bool = false,
            onEvent: (@Sendable (MigrationEvent) -> Void)? = nil
        ) {
            self.leaseDuration = leaseDuration
            self.lockTimeout = lockTimeout
            self.attemptLimit = attemptLimit
            self.upgradesFrom = upgradesFrom
            self.isReadOnly = isReadOnly
            self.onEvent = onEvent
        }

        var leaseLength: Duration { min(max(leaseDuration, .seconds(1)), .seconds(86_400)) }
    }
}
