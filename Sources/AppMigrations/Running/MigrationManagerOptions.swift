extension MigrationManager {
    /// How long to wait, how often to try, and the handler of events.
    public struct Options: Sendable {
        /// How long to wait for another process that is migrating, while the machine is awake; `nil` waits as long as it
        /// takes.
        public var lockTimeout: Duration?

        /// How many processes of one app version may die in one migration before the next start throws
        /// `attemptLimitReached` instead of running it; `nil` is no limit, and less than 1 counts as 1.
        public var attemptLimit: Int?

        /// Called on the thread of the caller for everything that a log or a progress display wants to know.
        ///
        /// A handler that declares a migration of the same state gets `nested`. But for `waiting`, `launchNotSaved` and
        /// `failed` the lock is held meanwhile: one that waits for another thread which does so waits for itself.
        public var onEvent: (@Sendable (MigrationEvent) -> Void)? {
            get { handler?.call }
            set { handler = Handler(newValue) }
        }

        // One reference: the code that releases an optional closure would lie pages away from what else a start runs.
        private var handler: Handler?

        private final class Handler: Sendable {
            let call: @Sendable (MigrationEvent) -> Void

            init?(_ call: (@Sendable (MigrationEvent) -> Void)?) {
                guard let call else { return nil }
                self.call = call
            }
        }

        /// Without arguments: waits as long as it takes, tries without limit, and has no handler.
        public init(
            lockTimeout: Duration? = nil,
            attemptLimit: Int? = nil,
            onEvent: (@Sendable (MigrationEvent) -> Void)? = nil
        ) {
            self.lockTimeout = lockTimeout
            self.attemptLimit = attemptLimit
            if onEvent != nil { handler = Handler(onEvent) }
        }
    }
}
