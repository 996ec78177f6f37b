internal import AppMigrations

/// One task at a time, in the order in which they came.
package final class Turns: Sendable {
    private struct Queue {
        var isTaken = false
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []

        mutating func passes() -> Bool {
            if isTaken, !isOpen { return false }
            isTaken = true
            return true
        }
    }

    private let queue = Guarded(Queue())

    package init() {}

    package nonisolated(nonsending) func enter() async {
        if queue.withLock({ $0.passes() }) { return }
        await withCheckedContinuation { continuation in
            let passes = queue.withLock { queue in
                if queue.passes() { return true }
                queue.waiting.append(continuation)
                return false
            }
            if passes { continuation.resume() }
        }
    }

    package func leave() {
        let next: CheckedContinuation<Void, Never>? = queue.withLock { queue in
            if queue.waiting.isEmpty {
                queue.isTaken = false
                return nil
            }
            return queue.waiting.removeFirst()
        }
        next?.resume()
    }

    /// Lets everybody pass from now on, whatever the task does that has its turn.
    package func open() {
        let waiting = queue.withLock { queue in
            queue.isOpen = true
            defer { queue.waiting = [] }
            return queue.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
