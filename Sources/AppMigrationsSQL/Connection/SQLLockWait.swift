/// How long to wait for the migrator's lock, and what to call before a wait.
package struct SQLLockWait {
    package let limit: Duration

    /// Called if the lock isn't free; `nil` if nobody is to be informed.
    package let beforeWaiting: SQLRules?

    package init(_ limit: Duration, beforeWaiting: SQLRules? = nil) {
        self.limit = limit
        self.beforeWaiting = beforeWaiting
    }
}
