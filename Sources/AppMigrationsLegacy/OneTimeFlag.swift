import AppMigrations

/// A flag that any thread can set, once.
final class OneTimeFlag: Sendable {
    private let isSet = Guarded(false)

    /// Sets the flag.
    ///
    /// - Returns: True if the flag was not set before.
    func set() -> Bool {
        isSet.withLock { isSet in
            defer { isSet = true }
            return !isSet
        }
    }
}
