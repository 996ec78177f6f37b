internal import AppMigrations

/// One task at a time, in the order in which they came.
final class Turns: Sendable {
    private struct Queue {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []

        mutating func take() -> Bool {
            defer { isTaken = true }
            return !isTaken
        }
    }

    private let queue = Guarded(Queue())

    nonisolated(nonsending) func enter() async {
        if queue.withLock({ $0.take() }) { return }
        await withCheckedContinuation { continuation in
            let isFree = queue.withLock { queue in
                if queue.take() { return true }
                queue.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func leave() {
        let next: CheckedContinuation<Void, Never>? = queue.withLock { queue in
            if queue.waiting.isEmpty {
                queue.isTaken = false
                return nil
            }
            return queue.waiting.removeFirst()
        }
        next?.resume()
    }
}
