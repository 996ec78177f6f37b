internal import AppMigrations

extension MigrationGate {
    /// Waits for each new state of a gate, and reads it: a door, or a screen.
    ///
    /// Nobody hands a state to an observer. Two threads that change the state one after the other may wake it up in the other
    /// order, and still it reads the newest state, never an older one after it.
    final class Observer: Sendable {
        private let contents: GuardedContents
        /// The revision of the state that was read last; a gate begins with 0.
        private let knownRevision = Guarded(-1)

        init(of contents: GuardedContents) { self.contents = contents }

        /// The newest state, as soon as it is one that this observer hasn't read; `nil` if no other can come, or the task is cancelled.
        ///
        /// The first call returns the state of now, in a cancelled task too.
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
            let number = contents.change { $0.beginObserving() }
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
