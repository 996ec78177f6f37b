extension MigrationManager {
    /// How long to wait, how often to try, how old data may be, and the handler of events.
    public struct Options: Sendable {
        /// How long to wait for another process that is migrating, while the machine is awake; `nil` waits as long as it
        /// takes.
        public var lockTimeout: Duration?

        /// How many processes of one app version may die in one migration before the next start throws
        /// `attemptLimitReached` instead of running it; `nil` is no limit, and less than 1 counts as 1.
        public var attemptLimit: Int?

        /// The oldest version from which this app upgrades; `nil` upgrades from every version.
        ///
        /// An app that stops declaring its oldest migrations names the newest one that it left out: a state whose
        /// ``MigrationManager/lastRunVersion`` lies below, or a `firstRun:` of `existingData(at:)`, makes `init` throw `tooOld`,
        /// and what is no longer there isn't skipped. A mark rises by migrations alone, so name no version that had none. With
        /// `everything` a first run begins at nothing, which is not too old: what is declared has to build all of it.
        public var upgradesFrom: String? {
            get { rarities?.upgradesFrom }
            set { rarities = Rarities(onEvent, newValue) }
        }

        /// Called on the thread of the caller for everything that a log or a progress display wants to know.
        ///
        /// A handler that declares a migration of the same state gets `nested`. But for `waiting`, `launchNotSaved` and
        /// `failed` the lock is held meanwhile: one that waits for another thread which does so waits for itself.
        public var onEvent: (@Sendable (MigrationEvent) -> Void)? {
            get { rarities?.onEvent }
            set { rarities = Rarities(newValue, upgradesFrom) }
        }

        // One reference: the code that releases an optional closure or text would lie pages away from what else a start runs.
        private var rarities: Rarities?

        /// Whether `upgradesFrom` is to be asked, without a look at what it is.
        @inline(__always)
        var isParticular: Bool { rarities != nil }

        private final class Rarities: Sendable {
            let onEvent: (@Sendable (MigrationEvent) -> Void)?
            let upgradesFrom: String?

            init?(_ onEvent: (@Sendable (MigrationEvent) -> Void)?, _ upgradesFrom: String?) {
                if onEvent == nil, upgradesFrom == nil { return nil }
                self.onEvent = onEvent
                self.upgradesFrom = upgradesFrom
            }
        }

        /// Without arguments: waits as long as it takes, tries without limit, upgrades from every version, and has no handler.
        public init(
            lockTimeout: Duration? = nil,
            attemptLimit: Int? = nil,
            upgradesFrom: String? = nil,
            onEvent: (@Sendable (MigrationEvent) -> Void)? = nil
        ) {
            self.lockTimeout = lockTimeout
            self.attemptLimit = attemptLimit
            if onEvent != nil || upgradesFrom != nil { rarities = Rarities(onEvent, upgradesFrom) }
        }
    }
}
