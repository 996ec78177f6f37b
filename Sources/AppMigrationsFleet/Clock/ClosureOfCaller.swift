/// Lets another task call a closure of the caller.
///
/// This is safe because the caller is suspended until the closure returns.
struct ClosureOfCaller<Value: Sendable>: @unchecked Sendable {
    let body: nonisolated(nonsending) () async throws -> Value

    /// Calls the closure on the caller's actor, which is `isolation`.
    func call(on isolation: isolated (any Actor)?) async throws -> Value { try await body() }
}
