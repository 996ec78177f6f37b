internal import AppMigrations
internal import AppMigrationsSQL

extension LeaseHolder {
    /// Calls the closure on the caller's actor, in a task of its own, which is cancelled when the lease is
    /// lost.
    ///
    /// The closure's error is given, not thrown. The renewals go on while a cancelled closure comes to its
    /// end.
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
        let closure = ClosureOfCaller(body: body)
        let isolation = #isolation
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

    func cancelClosure() { progress.withLock { $0.calling }?.cancel() }

    /// Cancels the closure's task, and ends a statement that hangs.
    func interrupt() async {
        let (calling, db) = progress.withLock { ($0.calling, $0.db) }
        calling?.cancel()
        await db?.close()
    }

    /// Renews until the task is cancelled or the lease lost.
    ///
    /// The next renewal comes a sixth of the lease after the last one was answered, or sooner if that answer
    /// took long. A statement that isn't answered after its task was cancelled stops the renewals: if nothing
    /// ends it, another host takes over.
    private func renew() async {
        var pause = min(lease.length / 6, max(.zero, timeToLastTry))
        while true {
            do { try await clock.timer(pause) } catch { return }
            if isAnyStatementCancelled {
                pause = twelfth
                continue
            }
            do throws(MigrationError) {
                try await save()
                pause = min(lease.length / 6, max(.zero, timeToLastTry))
            } catch {
                if loss != nil { return }
                let end = progress.withLock { $0.end } ?? lastTry
                pause = max(.zero, min(twelfth, .seconds(1), end - clock.uptime()))
            }
        }
    }
}

/// The statements of this library, and the closures with a connection, that are under way.
extension LeaseHolder {
    /// Begins a statement; returns its number.
    func beginStatement() -> Int {
        progress.withLock { progress in
            progress.statementCount += 1
            progress.statements[progress.statementCount] = false
            return progress.statementCount
        }
    }

    /// Notes that the task of a statement was cancelled; false if the statement has ended.
    func cancelStatement(_ number: Int) -> Bool {
        progress.withLock { progress in
            if progress.statements[number] == nil { return false }
            progress.statements[number] = true
            return true
        }
    }

    func isUnderWay(_ number: Int) -> Bool { progress.withLock { $0.statements[number] != nil } }

    func endStatement(_ number: Int) { progress.withLock { $0.statements[number] = nil } }

    private var isAnyStatementCancelled: Bool { progress.withLock { $0.statements.values.contains(true) } }
}

/// A lease that could not be renewed for half of its length is given up. Another host takes over after its
/// whole length.
///
/// The last twelfth of a lease's length before that is for a last try.
extension LeaseHolder {
    private var twelfth: Duration { lease.length / 12 }

    /// When the last try to renew the lease begins.
    private var lastTry: Duration { renewed + lease.length / 2 - twelfth }

    /// How long it is until then; less than zero if it should be under way.
    var timeToLastTry: Duration { lastTry - clock.uptime() }

    /// Begins a try to save; returns its end.
    ///
    /// A process that stood still has not tried. So the last twelfth begins only when this runs again, and a
    /// renewal after a stall keeps the lease: it replaces the revision that nobody has taken over, or fails.
    ///
    /// A renewal waits for a checkpoint under way. So a checkpoint that would leave no time for the last try
    /// is the last try itself.
    func beginTry(isCheckpoint: Bool) -> Duration {
        let now = clock.uptime()
        let needed = isCheckpoint ? twelfth : .zero
        if now + needed < lastTry { return lastTry }
        let last = max(now + twelfth, renewed + lease.length / 2)
        return progress.withLock { progress in
            let end = progress.end ?? last
            progress.end = end
            return end
        }
    }
}
