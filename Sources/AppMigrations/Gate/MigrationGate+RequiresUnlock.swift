extension MigrationGate {
    /// The error of a start on a device that is still locked.
    ///
    /// The gate waits, and tries again by itself.
    ///
    /// If there is a state, you don't need this error: reading the state throws `stateUnreadable` on a locked
    /// device. Before the first start there is no state. Then throw this error before you make the manager,
    /// or from its `firstRun:`.
    ///
    /// The gate tries again after 0.25 s. It doubles the pause after each try, up to 4 s.
    public struct RequiresUnlock: Error, CustomStringConvertible {
        /// Makes an error for the start to throw.
        public init() {}

        public var description: String {
            "The device is locked, so the data can't be read or written. The start goes on once the device is unlocked."
        }
    }
}
