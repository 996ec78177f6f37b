internal import AppMigrations
internal import AppMigrationsSQL

extension LeaseHolder {
    /// Calls the closure on the caller's actor, in a task of its own, which is cancelled when the lease is
    /// lost.
    ///
    /// The closure's error is returned, not thrown. The lease is renewed until the closure has returned, even
    /// if its task was cancelled before. `db` is closed only if the lease is lost.
    nonisolated(nonsending) func supervise(
        closing db: (any AsyncSQLConnection & Sendable)?,
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async -> (any Error)? {
        mutableState.withLock { $0.db = db }
        return await withoutActuallyEscaping(body, do: callInTask)
    }

    nonisolated(nonsending) private func callInTask(
        _ body: nonisolated(nonsending) @escaping () async throws -> Void
    ) async -> (any Error)? {
        let closure = ClosureOfCaller(body: body)
        let isolation = #isolation
        let closureTask = Task { () -> (any Error)? in
            do { try await closure.call(on: isolation) } catch { return error }
            return nil
        }
        let renewalTask = Task {
            await self.renew()
            if self.loss != nil { await self.interrupt() }
        }
        let isLost = mutableState.withLock { mutable in
            mutable.closureTask = closureTask
            mutable.renewalTask = renewalTask
            return mutable.loss != nil
        }
        // The closure may have lost the lease before its tasks were stored here.
        if isLost { renewalTask.cancel() }
        defer { renewalTask.cancel() }
        return await withTaskCancellationHandler {
            await closureTask.value
        } onCancel: {
            closureTask.cancel()
        }
    }

    func cancelClosure() { mutableState.withLock { $0.closureTask }?.cancel() }

    /// Cancels the closure's task, and closes its connection, so that a hanging statement ends.
    func interrupt() async {
        cancelClosure()
        await mutableState.withLock { $0.db }?.close()
    }

    /// Renews until the task is cancelled or the lease lost.
    ///
    /// It waits for a sixth of the lease after each answered renewal, or less if that answer took so long
    /// that the last try is due before. While a statement isn't answered although its task was cancelled, the
    /// lease isn't renewed. If nothing ends that statement, the lease expires, and another host takes over.
    private func renew() async {
        var pause = min(lease.length / 6, max(.zero, timeToLastTry))
        while true {
            do { try await clock.timer(pause) } catch { return }
            if isAnyStatementCancelled {
                pause = retryPause
                continue
            }
            do throws(MigrationError) {
                try await save()
                pause = min(lease.length / 6, max(.zero, timeToLastTry))
            } catch {
                if loss != nil { return }
                let end = mutableState.withLock { $0.lastTryEnd } ?? lastTryStart
                pause = max(.zero, min(retryPause, .seconds(1), end - clock.uptime()))
            }
        }
    }
}

/// Keeps track of the running statements of this library.
///
/// A running closure that has a connection counts as one statement.
extension LeaseHolder {
    /// Records that a statement has begun, and returns its number.
    func beginStatement() -> Int {
        mutableState.withLock { mutable in
            mutable.statementCount += 1
            mutable.statements[mutable.statementCount] = false
            return mutable.statementCount
        }
    }

    /// Records that the task of a statement was cancelled.
    ///
    /// Returns false if the statement has ended already.
    func recordCancellation(ofStatement number: Int) -> Bool {
        mutableState.withLock { mutable in
            if mutable.statements[number] == nil { return false }
            mutable.statements[number] = true
            return true
        }
    }

    func isRunning(_ number: Int) -> Bool { mutableState.withLock { $0.statements[number] != nil } }

    func endStatement(_ number: Int) { mutableState.withLock { $0.statements[number] = nil } }

    /// The pause before the next try to renew after a failure, and between two checks whether a cancelled
    /// statement has ended.
    ///
    /// After a failure, the pause may be shorter.
    private var retryPause: Duration { lease.length / 12 }

    private var isAnyStatementCancelled: Bool {
        mutableState.withLock { $0.statements.values.contains(true) }
    }
}

/// If the lease can't be renewed for half of its length, this host gives it up. Other hosts take over only
/// after the whole length, so there is time to stop the closure.
///
/// The last twelfth of the length before the lease is given up is for a last try.
extension LeaseHolder {
    private var lastTryLength: Duration { lease.length / 12 }

    /// When the last try to renew the lease begins.
    private var lastTryStart: Duration { renewedAt + lease.length / 2 - lastTryLength }

    /// The time until the last try has to begin; negative if it should have begun already.
    var timeToLastTry: Duration { lastTryStart - clock.uptime() }

    /// Begins a try to save, and returns the time at which it has to be answered.
    ///
    /// If it is the last try, that time is also kept as `lastTryEnd`.
    ///
    /// A process that was suspended could not try earlier. So the last try has its full time from now on.
    /// This is safe, because the save succeeds only if no other host has taken over.
    ///
    /// A renewal waits for a running checkpoint. So a checkpoint that would leave no time for the last try
    /// counts as the last try.
    func beginTry(isCheckpoint: Bool) -> Duration {
        let now = clock.uptime()
        let needed = isCheckpoint ? lastTryLength : .zero
        if now + needed < lastTryStart { return lastTryStart }
        let last = max(now + lastTryLength, renewedAt + lease.length / 2)
        return mutableState.withLock { mutable in
            let end = mutable.lastTryEnd ?? last
            mutable.lastTryEnd = end
            return end
        }
    }
}
