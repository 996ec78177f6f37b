internal import AppMigrations

/// One task at a time, in the order in which they came.
package final class Turns: Sendable {
    private struct Queue {
        var isTaken = false
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let queue = Guarded(Queue())

    package init() {}

    deinit { queue.destroy() }

    package func enter() async {
        await withCheckedContinuation { continuation in
            let passes = queue.withLock { queue in
                if queue.isTaken, !queue.isOpen {
                    queue.waiting.append(continuation)
                    return false
                }
                queue.isTaken = true
                return true
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
