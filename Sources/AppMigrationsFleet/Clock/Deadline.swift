internal import AppMigrations

/// How long a call of a store or of a connection may take.
struct Deadline: Sendable {
    let clock: FleetClock
    let limit: Duration

    /// Runs a call in a task of its own, and waits for it until the deadline, or until the caller's task is cancelled.
    ///
    /// A call that hangs is cancelled then, and left behind: nobody waits for it any more.
    nonisolated(nonsending) func bound<Value: Sendable>(
        _ limit: Duration? = nil,
        _ call: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let race = Race<Value>()
        let limit = limit ?? self.limit
        let calling = Task {
            do { race.end(.success(try await call())) } catch {
                race.end(.failure(error))
            }
        }
        let waiting = Task { [clock] in
            do { try await clock.alarm(limit) } catch {
                return
            }
            race.end(.failure(Overdue(limit: limit)))
        }
        defer {
            calling.cancel()
            waiting.cancel()
        }
        return try await withTaskCancellationHandler {
            try await race.result.get()
        } onCancel: {
            race.end(.failure(CancellationError()))
        }
    }
}

/// A call that missed its deadline.
struct Overdue: Error, CustomStringConvertible {
    let limit: Duration

    var description: String { "there was no answer within \(limit.description)" }
}

/// The first end of several.
private final class Race<Value: Sendable>: Sendable {
    private struct Progress {
        var result: Result<Value, any Error>?
        var waiter: CheckedContinuation<Result<Value, any Error>, Never>?
    }

    private let progress = Guarded(Progress())

    func end(_ result: Result<Value, any Error>) {
        let waiter = progress.withLock { progress in
            if progress.result != nil { return nil as CheckedContinuation<Result<Value, any Error>, Never>? }
            progress.result = result
            return progress.waiter
        }
        waiter?.resume(returning: result)
    }

    var result: Result<Value, any Error> {
        get async {
            await withCheckedContinuation { continuation in
                let result = progress.withLock { progress in
                    if progress.result == nil { progress.waiter = continuation }
                    return progress.result
                }
                if let result { continuation.resume(returning: result) }
            }
        }
    }
}

/// Runs a body in a task of its own, which isn't cancelled with the caller's: many a store does nothing in a cancelled one.
func uncancelled<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    let task = Task { () async -> Result<Value, Failure> in
        do throws(Failure) { return .success(try await body()) } catch {
            return .failure(error)
        }
    }
    return try await task.value.get()
}
