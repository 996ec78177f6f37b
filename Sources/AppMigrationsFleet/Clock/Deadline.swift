internal import AppMigrations

/// Limits the time of each call to the store or to a connection: to half the length of a lease, unless the
/// call has another limit.
struct Deadline: Sendable {
    let clock: FleetClock
    let lease: Duration
    var limit: Duration { lease / 2 }

    /// Runs a call in a task of its own, and waits for it until the deadline, or until the caller's task is
    /// cancelled.
    ///
    /// If the deadline passes or the caller is cancelled first, the call's task is cancelled, and this
    /// function returns without waiting for it to end.
    nonisolated(nonsending) func bound<Value: Sendable>(
        _ limit: Duration? = nil,
        _ call: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let waiter = Guarded<CheckedContinuation<Value, any Error>?>(nil)
        let end: @Sendable (Result<Value, any Error>) -> Void = { result in
            let first = waiter.withLock { waiter in
                defer { waiter = nil }
                return waiter
            }
            first?.resume(with: result)
        }
        // On every exit, the alarm and the call's task are cancelled.
        var cleanUp: @Sendable () -> Void = {}
        defer { cleanUp() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiter.withLock { $0 = continuation }
                let task = Task { end(await Result(of: call)) }
                // The limit is computed only now, while the call is already running: dividing a `Duration`
                // takes as long as everything else that a start does before its call.
                let limit = limit ?? self.limit
                let cancelAlarm = clock.alarm(limit) { end(.failure(Overdue(limit: limit))) }
                cleanUp = {
                    cancelAlarm()
                    task.cancel()
                }
                // If the task was cancelled before `waiter` was set, `onCancel` had nothing to resume.
                if Task.isCancelled { end(.failure(CancellationError())) }
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }
}

/// Runs the body in a task of its own, which isn't cancelled when the caller's task is.
///
/// Many stores refuse to work in a cancelled task.
func uncancelled<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    try await Task { await Result(of: body) }.value.get()
}

extension Result {
    init(of body: () async throws(Failure) -> Success) async {
        do throws(Failure) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
