internal import AppMigrations

/// Runs a closure under a lease, which is renewed meanwhile.
extension LeaseHolder {
    private enum Ending: Sendable {
        case closure((any Error)?)
        case watch
    }

    /// Calls the closure on the caller's actor, in a task of its own, so that it can be cancelled when the lease is lost.
    ///
    /// The closure's error is given, not thrown. The renewals are tasks without a parent: they go on while a cancelled closure
    /// comes to its end, and a store that doesn't answer keeps nobody waiting.
    nonisolated(nonsending) func supervise(
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async -> (any Error)? {
        let watching = Task { await self.watch() }
        defer { watching.cancel() }
        let renewing = Task { await self.renew() }
        let failure = await withoutActuallyEscaping(body, do: callInChild)
        renewing.cancel()
        // A store that doesn't answer is waited for no longer than the lease allows.
        await untilSaved()
        return failure
    }

    nonisolated(nonsending) private func callInChild(
        _ body: nonisolated(nonsending) @escaping () async throws -> Void
    ) async -> (any Error)? {
        let isolation = #isolation
        let closure = ClosureOfCaller(body: body)
        return await withTaskGroup(of: Ending.self) { group in
            group.addTask { .closure(await Self.call(closure, on: isolation)) }
            group.addTask {
                await self.untilLost()
                return .watch
            }
            var failure: (any Error)?
            for await ending in group {
                if case .closure(let error) = ending { failure = error }
                group.cancelAll()
            }
            return failure
        }
    }

    private static func call(
        _ closure: ClosureOfCaller,
        on isolation: isolated (any Actor)?
    ) async -> (any Error)? {
        do {
            try await closure.body()
            return nil
        } catch {
            return error
        }
    }
}

/// A closure that another task calls, while the task that it belongs to does nothing but wait.
private struct ClosureOfCaller: @unchecked Sendable {
    let body: nonisolated(nonsending) () async throws -> Void
}
