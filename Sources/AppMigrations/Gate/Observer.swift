extension MigrationGate {
    /// Waits for each new state of a gate, for `ready()` and `states`.
    ///
    /// When an observer is woken, it reads the current state itself. Two threads may change the state one
    /// after the other, but wake the observer in the opposite order. Even then, the observer reads the latest
    /// state, and never an older state after a newer state.
    final class Observer: Sendable {
        private let contents: GuardedContents

        /// The revision of the state that was read last.
        ///
        /// It is -1 until a state was read, because a gate begins with revision 0.
        private let knownRevision = Guarded(-1)

        init(of contents: GuardedContents) { self.contents = contents }

        /// Waits for a state that this observer hasn't read yet, and returns it.
        ///
        /// The first call returns the current state at once.
        ///
        /// - Returns: `nil` if no further state can follow, or if the task is cancelled. The first call
        ///   always returns a state, even in a cancelled task.
        func next() async -> State? {
            while true {
                let known = knownRevision.withLock { $0 }
                if known >= 0, Task.isCancelled { return nil }
                let (state, revision, isClosed) = contents.read { ($0.state, $0.revision, $0.isClosed) }
                if revision != known {
                    knownRevision.withLock { $0 = revision }
                    return state
                }
                if case .ready = state { return nil }
                if isClosed { return nil }
                await waitForChange(after: known)
            }
        }

        private func waitForChange(after known: Int) async {
            let number = contents.change { $0.makeWaitNumber() }
            await withTaskCancellationHandler {
                await withCheckedContinuation { observer in
                    contents.change { $0.wait(observer, number: number, knownRevision: known) }
                }
            } onCancel: {
                contents.change { $0.stopWaiting(number: number) }
            }
        }
    }
}
