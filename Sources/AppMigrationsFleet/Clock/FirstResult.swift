internal import AppMigrations

/// Keeps the first of several results, and ignores later ones.
///
/// Only one task may wait for `value`. Cancelling that task doesn't end the wait. So wait in a
/// `withTaskCancellationHandler` whose `onCancel` calls ``end(_:)``.
final class FirstResult<Value: Sendable>: Sendable {
    private enum Progress {
        case open
        case waiting(CheckedContinuation<Value, any Error>)
        case ended(Result<Value, any Error>)
    }

    private let progress = Guarded<Progress>(.open)

    nonisolated(nonsending) var value: Value {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Value, any Error>? = progress.withLock { progress in
                    if case .ended(let result) = progress { return result }
                    progress = .waiting(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        }
    }

    /// Sets the result, unless there is one already.
    func end(_ result: Result<Value, any Error>) {
        let waiting: CheckedContinuation<Value, any Error>? = progress.withLock { progress in
            if case .ended = progress { return nil }
            defer { progress = .ended(result) }
            if case .waiting(let continuation) = progress { return continuation }
            return nil
        }
        waiting?.resume(with: result)
    }
}
