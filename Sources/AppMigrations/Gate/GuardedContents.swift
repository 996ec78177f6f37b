extension MigrationGate {
    /// The contents of a gate, guarded by the gate's lock.
    ///
    /// Nothing may be resumed or cancelled while the gate's lock is held, because the app could stop for
    /// ever:
    /// - While Swift cancels a task, it holds a lock of that task and calls the task's cancellation handlers.
    ///   The handler of an ``Observer`` takes the gate's lock.
    /// - Resuming or cancelling a task takes the task's lock. So a thread that did it under the gate's lock
    ///   could wait for a thread that waits for the gate's lock.
    ///
    /// Therefore a change only collects what has to be resumed and cancelled. ``change(_:)`` does it after it
    /// released the lock.
    final class GuardedContents: Sendable {
        private let contents = Guarded(Contents())

        func read<Value>(_ body: (Contents) -> Value) -> Value { contents.withLock { body($0) } }

        func change<Value>(_ body: (inout Contents) -> Value) -> Value {
            let (value, actions) = contents.withLock { contents in
                let value = body(&contents)
                return (value, contents.takeActionsAfterUnlock())
            }
            for action in actions { action() }
            return value
        }
    }
}
