extension MigrationGate {
    /// Waits for each new state of a gate, for a caller of `ready()` or a screen.
    ///
    /// An observer reads the state itself when it is woken. Two threads that change the state one after the
    /// other may wake it in the other order. It still reads the newest state, and never an older one after a
    /// newer one.
    final class Observer: Sendable {
        private let contents: GuardedContents

        /// The revision of the state that was read last.
        ///
        /// A gate begins with revision 0.
        private let knownRevision = Guarded(-1)

        init(of contents: GuardedContents) { self.contents = contents }

        /// Waits for a state that this observer hasn't read, and returns it.
        ///
        /// The first call returns the current state at once.
        ///
        /// - Returns: `nil` if no other state can follow, or if the task is cancelled. The first call returns
        ///   a state in a cancelled task too.
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
