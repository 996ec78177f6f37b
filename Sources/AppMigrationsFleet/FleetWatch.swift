internal import AppMigrations
internal import AppMigrationsSQL

/// Watches over the statements of one attempt, so that each of them ends even if its connection goes silent.
///
/// - Every few seconds, it asks the store's server what the statement's process waits for. If another
///   transaction has the lock, it sends an event, and repeats it once in each length of a lease.
/// - Once in each length of a lease, it checks that the server still runs the statement. If not, no answer
///   will come, and it gives the statement up.
/// - If the task is cancelled, the statement has half the length of a lease (`deadline.limit`) to end. Then
///   it is given up.
final class FleetWatch: AnswerWatch {
    private let context: FleetMigrationContext
    /// Whether the store's role may see the processes and statements of each server.
    ///
    /// The key is the time at which the server has started.
    private let visibilities = Guarded<[String: Visibility]>([:])
    private let waits = Guarded(Waits())
    private let migrators = Guarded(Migrators())

    /// What is known about the statements that wait for locks.
    private struct Waits {
        /// The transaction that the running statement waits for.
        var blocker: String?
        /// The transaction that the last failed statement was waiting for.
        var blockerOfFailure: String?
        /// When a statement failed for the first time because of a lock.
        var firstFailure: Duration?
    }

    /// What is known about the calls of migrators in the closure.
    private struct Migrators {
        /// True if one of them ran a file.
        var hasRunFile = false
        /// The ledger of the last call that ran no file.
        var ledger: String?
    }

    init(_ context: FleetMigrationContext) { self.context = context }

    private var holder: LeaseHolder { context.holder }
    private var deadline: Deadline { holder.repository.deadline }
    private var clock: FleetClock { deadline.clock }

    /// The transaction that a failed statement was waiting for, when the server was last asked.
    ///
    /// If the server has named none for the last failed statement, this is the transaction that it named for
    /// an earlier one. A script tries a statement again and again, and each try may be too short for a
    /// question.
    var blocker: String? { waits.withLock { $0.blockerOfFailure } }

    /// The note of the event `finished`, if the closure called migrators and none of them ran a file.
    ///
    /// The log has to say so, because after a reset, files that have run don't run again.
    var noteOnFiles: String? {
        let migrators = migrators.withLock { $0 }
        guard let ledger = migrators.ledger, !migrators.hasRunFile else { return nil }
        return "no file ran, because \(ledger) says that all files of \(context.version) have run"
    }

    func migratorReturned(hasRun: Bool, ledger: String) {
        migrators.withLock { migrators in
            if hasRun { migrators.hasRunFile = true } else { migrators.ledger = ledger }
        }
    }

    /// Runs a statement of this library, and returns its answer.
    ///
    /// The statement runs in a task of its own. This function waits for the first of three events: the
    /// answer, the discovery that no answer will come, and the end of the time that a statement has after the
    /// caller was cancelled.
    nonisolated(nonsending) func answer(
        in statementContext: StatementContext?,
        of connection: any AsyncSQLConnection.Type,
        _ statement: nonisolated(nonsending) @escaping () async throws -> SQLRows
    ) async throws -> SQLRows {
        let isVisible = try await canSeeProcess(of: statementContext)
        let isolation = #isolation
        let statement = ClosureOfCaller(body: statement)
        let number = beginStatement()
        defer { holder.endStatement(number) }
        let first = FirstResult<SQLRows>()
        let answering = Task { first.end(await Result { try await statement.call(on: isolation) }) }
        let watching = Task {
            let error = await self.waitForLoss(in: statementContext, isVisible: isVisible, isInClosure: false)
            if let error {
                first.end(.failure(UnansweredStatement(error)))
            }
        }
        let ending = Guarded<Task<Void, Never>?>(nil)
        // If this returns before the statement is answered, the statement's task is cancelled, because its
        // client may still end it.
        defer {
            answering.cancel()
            watching.cancel()
            ending.withLock { $0 }?.cancel()
        }
        do {
            return try await withTaskCancellationHandler {
                try await first.value
            } onCancel: {
                answering.cancel()
                let task = self.endAfterCancellation(of: number) { [error = unansweredAfterCancellation] in
                    first.end(.failure(UnansweredStatement(error)))
                }
                ending.withLock { $0 = task }
            }
        } catch {
            noteFailure(error, of: connection)
            throw error
        }
    }

    /// Calls a closure, and closes its connection if the closure has to end.
    ///
    /// It has to end if the server no longer has the connection's process, so that no statement will be
    /// answered. It also has to end if it is still running half a lease after its task was cancelled.
    nonisolated(nonsending) func call(
        in statementContext: StatementContext?,
        closing db: any AsyncSQLConnection,
        _ closure: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        let isVisible = try await canSeeProcess(of: statementContext)
        // `db` is closed in another task while the closure may be waiting for a statement on it. That is the
        // purpose: closing the connection ends the statement.
        nonisolated(unsafe) let db = db
        let closing = ClosureOfCaller { await db.close() }
        let isolation = #isolation
        let number = beginStatement()
        defer { holder.endStatement(number) }
        let loss = Guarded<SQLError?>(nil)
        let close = { @Sendable [holder] (error: SQLError) in
            loss.withLock { $0 = $0 ?? error }
            // Some clients never answer a statement after its connection was closed, and end it only if its
            // task is cancelled.
            holder.cancelClosure()
            _ = await Result { try await closing.call(on: isolation) }
        }
        let watching = Task {
            let error = await self.waitForLoss(in: statementContext, isVisible: isVisible, isInClosure: true)
            if let error { await close(error) }
        }
        let ending = Guarded<Task<Void, Never>?>(nil)
        defer {
            watching.cancel()
            ending.withLock { $0 }?.cancel()
        }
        do {
            try await withTaskCancellationHandler {
                try await closure()
            } onCancel: {
                let task = self.endAfterCancellation(of: number) { [error = unansweredAfterCancellation] in
                    await close(error)
                }
                ending.withLock { $0 = task }
            }
        } catch {
            noteFailure(error, of: type(of: db))
            guard let lost = loss.withLock({ $0 }) else { throw error }
            throw UnansweredStatement(lost.with { $0.underlyingError = error })
        }
    }

    private func beginStatement() -> Int {
        waits.withLock { $0.blocker = nil }
        return holder.beginStatement()
    }

    /// Remembers which transaction a failed statement was waiting for.
    private func noteFailure(_ error: any Error, of connection: any AsyncSQLConnection.Type) {
        let now = clock.uptime()
        let state = (error as? SQLError)?.sqlState ?? connection.serverError(from: error)?.sqlState
        waits.withLock { waits in
            waits.blockerOfFailure = waits.blocker ?? waits.blockerOfFailure
            // lock_not_available
            if state == "55P03" { waits.firstFailure = waits.firstFailure ?? now }
        }
    }

    private var unansweredAfterCancellation: SQLError {
        SQLError(
            .cancelled,
            "The task was cancelled, and the statement had no answer within \(deadline.limit.description)"
        )
    }

    /// Records that the task of a statement was cancelled, and calls `end` half a lease later, unless the
    /// statement has ended before.
    ///
    /// The lease isn't renewed until the statement has ended.
    private func endAfterCancellation(
        of number: Int,
        by end: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never>? {
        guard holder.recordCancellation(ofStatement: number) else { return nil }
        return Task { [clock, holder, limit = deadline.limit] in
            do { try await clock.timer(limit) } catch { return }
            if holder.isRunning(number) { await end() }
        }
    }
}

/// The questions to the store's server.
extension FleetWatch {
    /// True if the store's server runs the statement, and the store's role may see its processes.
    ///
    /// The server is asked once, and the answer is kept.
    private nonisolated(nonsending) func canSeeProcess(
        of statementContext: StatementContext?
    ) async throws -> Bool {
        guard let statementContext, let server = statementContext.process?.start else { return false }
        let visibility = visibilities.withLock { $0[server] }
        // A long statement has no transaction, and is recognized by the comment at its start. So its text has
        // to be visible. It follows a transaction, for which the server was asked.
        if case .longStatement = statementContext { return visibility == .statements }
        if let visibility { return visibility != .nothing }
        guard let store = holder.repository.postgres else { return false }
        let state = try await deadline.bound {
            try await Self.processState(of: statementContext, in: store, idleFor: .zero)
        }
        let found = state.map { $0.isReadable ? Visibility.statements : .processes } ?? .nothing
        visibilities.withLock { $0[server] = found }
        return found != .nothing
    }

    /// Whether the store's role may see the processes and statements of a server.
    private enum Visibility {
        /// It isn't the store's server.
        case nothing
        /// The role sees its processes, but not the statements that they run.
        case processes
        /// The role sees its processes and their statements.
        case statements
    }

    /// Waits until it is certain that the statement will never be answered, and returns the error for that.
    ///
    /// Returns `nil` if this can't be found out, or if this task is cancelled.
    private func waitForLoss(
        in statementContext: StatementContext?,
        isVisible: Bool,
        isInClosure: Bool
    ) async -> SQLError? {
        guard let statementContext else { return nil }
        guard let process = statementContext.process else {
            if isInClosure { return nil }
            do { try await clock.timer(deadline.limit) } catch { return nil }
            let limit = deadline.limit.description
            return SQLError(.closed, "There was no answer within \(limit), so the connection was given up")
        }
        guard isVisible, let store = holder.repository.postgres else { return nil }
        var wasMissing = false
        var pause = timeToFirstQuestion
        var timeOfCheck = clock.uptime() + holder.lease.length
        var lastReport: (blocker: String, time: Duration)?
        while true {
            do {
                try await clock.timer(pause)
                pause = holder.repository.timeToAskForBlocker
                let found = try await deadline.bound { [limit = deadline.limit] in
                    try await Self.processState(of: statementContext, in: store, idleFor: limit)
                }
                let now = clock.uptime()
                waits.withLock { $0.blocker = found?.blocker }
                if let blocker = found?.blocker {
                    let isRecent = lastReport.map { now - $0.time < holder.lease.length } ?? false
                    if !isRecent || lastReport?.blocker != blocker {
                        lastReport = (blocker, now)
                        report(blocker: blocker)
                    }
                }
                if now < timeOfCheck {
                    pause = min(pause, timeOfCheck - now)
                    continue
                }
                timeOfCheck = now + holder.lease.length
                if let found, isInClosure || !found.isIdle {
                    wasMissing = false
                    continue
                }
                // A long statement that has just ended is missing, too, although its answer is on the way. So
                // two checks in a row must not find it. The process of a transaction is found by its number,
                // which it keeps after a statement has ended.
                if case .longStatement = statementContext, !wasMissing {
                    wasMissing = true
                    continue
                }
                if found != nil { return .unanswered(by: process) }
                return isInClosure ? .closed(inClosureWith: process) : .closed(with: process)
            } catch {
                if Task.isCancelled { return nil }
                // If the store can't be reached, the lease can't be renewed either. Losing the lease ends the
                // statement.
            }
        }
    }

    /// How long a statement runs before the server is asked about it for the first time: a few seconds, or
    /// less after a lock was not available.
    ///
    /// A script tries again and again to lock a table, and each try is short. The server shows the
    /// transaction that has locked the table only during such a try. So a few seconds after the first try has
    /// failed, the server is asked about each try after half a second already.
    private var timeToFirstQuestion: Duration {
        let time = holder.repository.timeToAskForBlocker
        guard let firstFailure = waits.withLock({ $0.firstFailure }) else { return time }
        return min(time, max(.milliseconds(500), firstFailure + time - clock.uptime()))
    }

    /// The state of a process, as the server shows it.
    private struct ProcessState: Sendable {
        /// True if it runs no statement, and has run none for a while.
        let isIdle: Bool
        /// True if the store's role may see the statement that it runs.
        let isReadable: Bool
        /// The transaction that it waits for.
        let blocker: String?
    }

    /// Reads the state of the process that runs a statement; `nil` if the server has no such process.
    private static func processState(
        of statementContext: StatementContext,
        in store: any PostgresStore,
        idleFor time: Duration
    ) async throws -> ProcessState? {
        let (condition, text): (String, String) =
            switch statementContext {
            // Nothing can be found, but the query has to use its first parameter.
            case .outsideTransaction: ("false AND $1::text IS NULL", "")
            case .transaction(let process): ("pid::text = $1::text", process.number)
            case .longStatement(let comment, _): ("left(query, length($1::text)) = $1::text", comment)
            }
        // For a prepared transaction, which has no process, `pg_blocking_pids` returns 0. Several processes
        // may have a long statement's comment in their last statement, so the active one is taken.
        let sql = """
            SELECT CASE WHEN state IS NULL THEN 'hidden' WHEN state LIKE 'idle%' AND
            clock_timestamp() - state_change > interval '\(time.wholeMilliseconds) ms' THEN 'idle' ELSE 'active' END, (
                SELECT CASE blocking WHEN 0 THEN 'a prepared transaction' ELSE concat(
                    'the open transaction of the server''s process ', blocking,
                    (SELECT ' for ' || host(client_addr) FROM pg_stat_activity WHERE pid = blocking)
                ) END FROM unnest(pg_blocking_pids(pid)) AS blocking LIMIT 1
            ) FROM pg_stat_activity
            WHERE \(condition) AND \(ServerProcess.startQuery) = $2::text ORDER BY state <> 'active' LIMIT 1
            """
        let rows = try await store.ask(sql, [.text(text), .text(statementContext.process?.start ?? "")])
        guard let row = rows.first else { return nil }
        var blocker: String?
        if row.count > 1, case .text(let found) = row[1] { blocker = found }
        return ProcessState(isIdle: row.first == "idle", isReadable: row.first != "hidden", blocker: blocker)
    }

    /// Sends a `waiting` event with the transaction that the statement waits for.
    private func report(blocker: String) {
        var event = context.event(.waiting)
        event.note = blocker
        context.onEvent?(event)
    }
}

extension StatementContext {
    fileprivate var process: ServerProcess? {
        switch self {
        case .outsideTransaction: nil
        case .transaction(let process), .longStatement(_, let process): process
        }
    }
}

extension SQLError {
    fileprivate static func closed(with process: ServerProcess) -> SQLError {
        SQLError(
            .closed,
            "The connection went silent: its statements ran in \(process.description), which has ended"
        )
    }

    /// The closure may have done something else for so long that the server ended its transaction.
    fileprivate static func closed(inClosureWith process: ServerProcess) -> SQLError {
        SQLError(
            .closed,
            "The closure's statements ran in \(process.description), which has ended: the server or the network failed, or the"
                + " closure sent no statement for longer than a transaction may wait for one"
        )
    }

    fileprivate static func unanswered(by process: ServerProcess) -> SQLError {
        SQLError(.closed, "The connection went silent: \(process.description) does not run the statement")
    }
}
