extension MigrationGate {
    /// An error that says that the device is still locked, so that the start can't continue.
    ///
    /// After this error, the gate waits and starts again by itself, first after 0.25 s. It doubles the pause
    /// after each attempt, up to 4 s.
    ///
    /// If a state exists, you don't need to throw this error, because reading the state on a locked device
    /// throws `stateUnreadable`. If there is no state yet, throw this error before you create the manager, or
    /// from its `firstRun:`.
    ///
    /// A migration's closure can throw it too, if the files that it needs have a stricter protection class
    /// than the state. The migration runs again when the gate tries again.
    public struct RequiresUnlock: Error, CustomStringConvertible {
        /// Creates an error for the start to throw.
        public init() {}

        public var description: String {
            "The device is locked, so the data can't be read or written. The start continues once the device is unlocked."
        }
    }
}

extension MigrationGate.RequiresUnlock: AdvisedError {
    package var userAdvice: MigrationAdvice? { .unlockDevice }
}
