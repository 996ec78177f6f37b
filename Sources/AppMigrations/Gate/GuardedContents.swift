internal import AppMigrations

extension MigrationGate {
    /// The contents of a gate behind the gate's lock.
    ///
    /// While Swift cancels a task, it holds a lock of that task and calls the task's cancellation handlers, of which an
    /// ``Observer`` has one that takes the gate's lock. To resume or cancel a task takes the task's lock as well. A thread that did so
    /// while it held the gate's lock could therefore wait for a thread that waits for it, and the whole app would stop. So a change
    /// only collects what is to be resumed and cancelled, and ``change(_:)`` does it after the lock is released.
    final class GuardedContents: Sendable {
        private let contents = Guarded(Contents())

        func read<Value>(_ body: (Contents) -> Value) -> Value { contents.withLock { body($0) } }

        func change<Value>(_ body: (inout Contents) -> Value) -> Value {
            let (value, afterwards) = contents.withLock { contents in
                let value = body(&contents)
                return (value, contents.takeAfterwards())
            }
            for action in afterwards { action() }
            return value
        }
    }
}
