extension MigrationGate {
    /// The contents of a gate, guarded by the gate's lock.
    ///
    /// Never resume or cancel a task while holding the gate's lock, because that could cause a deadlock:
    /// - When Swift cancels a task, it calls the task's cancellation handlers while it holds a lock of that
    ///   task. The handler of an ``Observer`` takes the gate's lock.
    /// - Resuming or cancelling a task takes the task's lock. A thread that does this while it holds the
    ///   gate's lock could wait for a thread that holds the task's lock and waits for the gate's lock.
    ///
    /// So a change only collects the tasks to resume or cancel. ``change(_:)`` resumes and cancels them after
    /// it has released the lock.
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
