internal import AppMigrations

/// Runs a closure under a lease, which is renewed meanwhile.
extension LeaseHolder {
    /// Calls the closure on the caller's actor, in a task of its own, which is cancelled when the lease is lost.
    ///
    /// The closure's error is given, not thrown. The renewals are a task without a parent: they go on while a cancelled closure comes
    /// to its end.
    nonisolated(nonsending) func supervise(
        onLoss: @escaping @Sendable () async -> Void = {},
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async -> (any Error)? {
        let renewing = Task {
            await self.renew()
            // Nobody waits for it: the closure's task is cancelled at the same moment.
            if self.loss != nil { Task { await onLoss() } }
        }
        progress.withLock { $0.renewing = renewing }
        return await withoutActuallyEscaping(body, do: callInChild)
    }

    nonisolated(nonsending) private func callInChild(
        _ body: nonisolated(nonsending) @escaping () async throws -> Void
    ) async -> (any Error)? {
        let (closure, isolation) = (ClosureOfCaller(body: body), #isolation)
        let renewing = progress.withLock { $0.renewing }
        return await withTaskGroup(of: (any Error)?.self) { group in
            group.addTask {
                defer { renewing?.cancel() }
                return await Self.call(closure, on: isolation)
            }
            group.addTask {
                await renewing?.value
                return nil
            }
            var failure: (any Error)?
            for await error in group {
                failure = failure ?? error
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

    /// Renews until the task is cancelled or the lease lost, at the latest when it could not be renewed for half of its length:
    /// another host takes over after the whole.
    ///
    /// A process that stood still has not tried. So the last twelfth of that half begins only when this task runs again, and a
    /// renewal after a stall keeps the lease: it replaces the revision that nobody has taken over, or fails.
    private func renew() async {
        let (half, twelfth) = (lease.length / 2, lease.length / 12)
        var pause = lease.length / 6
        /// When the lease is given up, once the last twelfth has begun.
        var end: Duration?
        while true {
            do { try await clock.pause(pause) } catch {
                return
            }
            let now = clock.uptime()
            if end == nil, now - renewed >= half - twelfth { end = max(now + twelfth, renewed + half) }
            do throws(MigrationError) {
                try await save(within: (end ?? renewed + half - twelfth) - now) { $0 }
                end = nil
                pause = lease.length / 6
            } catch {
                if loss != nil { return }
                let now = clock.uptime()
                if let end, now >= end { return lose(.notRenewed(half)) }
                pause = max(.zero, min(twelfth, .seconds(1), (end ?? renewed + half - twelfth) - now))
            }
        }
    }

    /// Renews before the closure begins, where half of the lease is over: another host may be about to take over.
    func refresh() async throws(MigrationError) {
        while clock.uptime() - renewed >= lease.length / 2 {
            do throws(MigrationError) { try await save { $0 } } catch {
                throw loss.map { .leaseLost($0, version, stored.location, begun: false) } ?? error
            }
        }
    }
}

/// A closure that another task calls, while the task that it belongs to does nothing but wait.
private struct ClosureOfCaller: @unchecked Sendable {
    let body: nonisolated(nonsending) () async throws -> Void
}
