import AppMigrations

/// A call in a task of its own, which a test waits for.
///
/// A test that is cancelled, as by its suite's time limit, leaves the call behind. Waiting for a `Task` would
/// keep the test from its end if the call ignores its cancellation.
final class Call<Value: Sendable>: Sendable {
    private let result = Guarded<Result<Value, any Error>?>(nil)
    private let task = Guarded<Task<Void, Never>?>(nil)

    init(_ body: @escaping @Sendable () async throws -> Value) {
        let task = Task {
            let ended: Result<Value, any Error>
            do { ended = .success(try await body()) } catch { ended = .failure(error) }
            result.withLock { $0 = ended }
        }
        self.task.withLock { $0 = task }
    }

    var hasEnded: Bool { result.withLock { $0 != nil } }

    func cancel() { task.withLock { $0 }?.cancel() }

    /// What the call returns or throws.
    var value: Value {
        get async throws {
            do { try await waitUntil { hasEnded } } catch {
                cancel()
                throw error
            }
            guard let result = result.withLock({ $0 }) else { throw CancellationError() }
            return try result.get()
        }
    }
}
