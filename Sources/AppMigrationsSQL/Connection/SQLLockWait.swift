/// How long to wait for the lock of a ledger, and what to call before a wait.
package struct SQLLockWait {
    package let limit: Duration

    /// The ledger whose lock is waited for; `nil` if the database has a single lock.
    package let ledger: String?

    /// Called if the lock isn't free; `nil` if nobody is to be informed.
    package let beforeWaiting: SQLOperation?

    package init(_ limit: Duration, ledger: String? = nil, beforeWaiting: SQLOperation? = nil) {
        self.limit = limit
        self.ledger = ledger
        self.beforeWaiting = beforeWaiting
    }
}
