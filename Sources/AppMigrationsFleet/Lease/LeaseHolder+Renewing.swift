internal import AppMigrations
internal import AppMigrationsSQL

extension LeaseHolder {
    /// Calls the closure on the caller's actor, in a task of its own, which is cancelled when the lease is lost.
    ///
    /// The closure's error is given, not thrown. The renewals go on while a cancelled closure comes to its end.
    nonisolated(nonsending) func supervise(
        closing db: (any AsyncSQLConnection & Sendable)?,
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async -> (any Error)? {
        progress.withLock { $0.db = db }
        return await withoutActuallyEscaping(body, do: callInTask)
    }

    nonisolated(nonsending) private func callInTask(
        _ body: nonisolated(nonsending) @escaping () async throws -> Void
    ) async -> (any Error)? {
        let (closure, isolation) = (ClosureOfCaller(body: body), #isolation)
        let calling = Task { () -> (any Error)? in
            do { try await closure.call(on: isolation) } catch { return error }
            return nil
        }
        let renewing = Task {
            await self.renew()
            if self.loss != nil { await self.interrupt() }
        }
        progress.withLock { ($0.calling, $0.renewing) = (calling, renewing) }
        defer { renewing.cancel() }
        return await withTaskCancellationHandler {
            await calling.value
        } onCancel: {
            calling.cancel()
        }
    }

    /// Cancels the closure's task, and ends a statement that hangs.
    func interrupt() async {
        let (calling, db) = progress.withLock { ($0.calling, $0.db) }
        calling?.cancel()
        await db?.close()
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
            do { try await clock.timer(pause) } catch { return }
            let now = clock.uptime()
            if end == nil, now - renewed >= half - twelfth { end = max(now + twelfth, renewed + half) }
            do throws(MigrationError) {
                try await save(within: (end ?? renewed + half - twelfth) - now)
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
}
