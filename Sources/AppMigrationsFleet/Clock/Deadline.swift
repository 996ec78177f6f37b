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
        // If the task is cancelled already, don't begin the call: it could succeed before `onCancel` below is
        // called.
        try Task.checkCancellation()
        let first = FirstResult<Value>()
        let task = Task { first.end(await Result(of: call)) }
        // The limit is computed only now, while the call is already running: dividing a `Duration` takes as
        // long as everything else that a start does before its call.
        let limit = limit ?? self.limit
        let cancelAlarm = clock.alarm(limit) { first.end(.failure(Overdue(limit: limit))) }
        defer {
            cancelAlarm()
            task.cancel()
        }
        return try await withTaskCancellationHandler {
            try await first.value
        } onCancel: {
            first.end(.failure(CancellationError()))
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
