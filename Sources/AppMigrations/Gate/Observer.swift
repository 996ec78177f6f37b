extension MigrationGate {
    /// Waits for each new state of a gate, for `ready()` and `states`.
    ///
    /// The gate only tells an observer that the state has changed, and the observer reads the state itself.
    /// Two threads may change the state one after the other, but tell the observer in the opposite order.
    /// Even then, the observer reads the latest state, and never an older state after a newer state.
    final class Observer: Sendable {
        private let contents: GuardedContents

        /// It has an element if the state has changed since the last one was taken, and ends when no further
        /// state can follow.
        private let changes: AsyncStream<Void>

        /// The revision of the state that was read last.
        ///
        /// It is -1 until a state was read, because a gate begins with revision 0.
        private let knownRevision = Guarded(-1)

        init(of contents: GuardedContents) {
            self.contents = contents
            let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            self.changes = changes
            let identifier = ObjectIdentifier(self)
            contents.change { $0.add(continuation, of: identifier) }
            continuation.onTermination = { _ in contents.change { $0.removeObserver(identifier) } }
        }

        /// Waits for a state that this observer hasn't read yet, and returns it.
        ///
        /// The first call returns the current state at once, even in a cancelled task.
        ///
        /// - Returns: `nil` if no further state can follow, or if the task is cancelled.
        func next() async -> State? {
            if let state = newState() { return state }
            for await _ in changes {
                if let state = newState() { return state }
            }
            return nil
        }

        /// The current state; `nil` if this observer has already read it.
        private func newState() -> State? {
            let (state, revision) = contents.read { ($0.state, $0.revision) }
            return knownRevision.withLock { known in
                if known >= revision { return nil }
                known = revision
                return state
            }
        }
    }
}
