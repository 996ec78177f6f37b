internal import AppMigrations

/// How long a call of a store or of a connection may take.
struct Deadline: Sendable {
    let clock: FleetClock
    let lease: Duration
    var limit: Duration { lease / 2 }

    /// Runs a call in a task of its own, and waits for it until the deadline, or until the caller's task is
    /// cancelled.
    ///
    /// A call that hangs is cancelled then, and left behind: nobody waits for it any more.
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
        // It is called off, and the call cancelled, by whoever leaves first.
        var leave: @Sendable () -> Void = {}
        defer { leave() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiter.withLock { $0 = continuation }
                let task = Task { end(await Result(of: call)) }
                // Dividing takes as long as all else that a start does before its call, which is under way by
                // now.
                let limit = limit ?? self.limit
                let callOff = clock.alarm(limit) { end(.failure(Overdue(limit: limit))) }
                leave = {
                    callOff()
                    task.cancel()
                }
                // The handler was called before anybody waited.
                if Task.isCancelled { end(.failure(CancellationError())) }
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }
}

struct Overdue: Error, CustomStringConvertible {
    let limit: Duration

    var description: String { "there was no answer within \(limit.description)" }
}

/// Runs a body in a task of its own, which isn't cancelled with the caller's: many a store does nothing in a
/// cancelled one.
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

/// A closure that another task calls, while the task that it belongs to does nothing but wait.
struct ClosureOfCaller<Value: Sendable>: @unchecked Sendable {
    let body: nonisolated(nonsending) () async throws -> Value

    func call(on isolation: isolated (any Actor)?) async throws -> Value { try await body() }
}
