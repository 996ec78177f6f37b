internal import AppMigrations
internal import AppMigrationsSQL

/// Watches over the statements of one attempt, so that each of them ends even if its connection goes silent.
///
/// Once in each length of a lease, it asks the store's server about the process that runs the statement. If
/// the server has no such process, no answer will come, and the statement is given up. After the task was
/// cancelled, a statement is given up when half the length of a lease is over.
final class FleetWatch: AnswerWatch {
    private let context: FleetMigrationContext
    /// By the start of each server, what the store's server shows of it.
    private let shown = Guarded<[String: Visibility]>([:])
    private struct Waits {
        /// The transaction that the statement under way waits for.
        var blocker: String?
        /// The transaction that the last statement to fail had waited for.
        var blockerOfFailure: String?
        /// When the first statement failed because of a lock.
        var firstFailure: Duration?
    }

    private let waits = Guarded(Waits())

    init(_ context: FleetMigrationContext) { self.context = context }

    private var holder: LeaseHolder { context.holder }
    private var deadline: Deadline { holder.stored.deadline }
    private var clock: FleetClock { deadline.clock }

    /// The transaction for which the last statement that failed had waited, when the server was asked.
    var blocker: String? { waits.withLock { $0.blockerOfFailure } }

    nonisolated(nonsending) func answer(
        at place: StatementPlace?,
        of connection: any AsyncSQLConnection.Type,
        _ statement: nonisolated(nonsending) @escaping () async throws -> SQLRows
    ) async throws -> SQLRows {
        let isShown = try await isShown(place)
        let isolation = #isolation
        let statement = ClosureOfCaller(body: statement)
        let number = holder.beginStatement()
        defer { holder.endStatement(number) }
        let first = FirstResult<SQLRows>()
        let answering = Task { first.end(await Result { try await statement.call(on: isolation) }) }
        let watching = Task {
            if let error = await self.loss(at: place, isShown: isShown, isInClosure: false) {
                first.end(.failure(UnansweredStatement(error)))
            }
        }
        let ending = Guarded<Task<Void, Never>?>(nil)
        // A statement that is left behind is cancelled. Its client may still end it.
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
                let task = self.end(number) { [error = unansweredAfterCancellation] in
                    first.end(.failure(UnansweredStatement(error)))
                }
                ending.withLock { $0 = task }
            }
        } catch {
            noteFailure(error, of: connection)
            throw error
        }
    }

    nonisolated(nonsending) func call(
        at place: StatementPlace?,
        closing db: any AsyncSQLConnection,
        _ closure: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        let isShown = try await isShown(place)
        // The closure may be in a statement on it, which closing the connection ends.
        nonisolated(unsafe) let db = db
        let closing = ClosureOfCaller { await db.close() }
        let isolation = #isolation
        let number = holder.beginStatement()
        defer { holder.endStatement(number) }
        let loss = Guarded<SQLError?>(nil)
        let close = { @Sendable [holder] (error: SQLError) in
            loss.withLock { $0 = $0 ?? error }
            // A client may answer nothing on a connection that is closed, and end with its task alone.
            holder.cancelClosure()
            _ = await Result { try await closing.call(on: isolation) }
        }
        let watching = Task {
            let error = await self.loss(at: place, isShown: isShown, isInClosure: true)
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
                let task = self.end(number) { [error = unansweredAfterCancellation] in await close(error) }
                ending.withLock { $0 = task }
            }
        } catch {
            noteFailure(error, of: type(of: db))
            guard let lost = loss.withLock({ $0 }) else { throw error }
            throw UnansweredStatement(lost.with { $0.underlyingError = error })
        }
    }

    /// Keeps what a statement that failed has waited for.
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

    /// Ends a statement half a lease after its task was cancelled, unless it has ended before.
    ///
    /// The lease isn't renewed until the statement has ended.
    private func end(_ number: Int, _ end: @escaping @Sendable () async -> Void) -> Task<Void, Never>? {
        guard holder.cancelStatement(number) else { return nil }
        return Task { [clock, holder, limit = deadline.limit] in
            do { try await clock.timer(limit) } catch { return }
            if holder.isUnderWay(number) { await end() }
        }
    }
}

/// The questions to the store's server.
extension FleetWatch {
    /// True if the store's server is the one that runs the statement, and shows its processes.
    private nonisolated(nonsending) func isShown(_ place: StatementPlace?) async throws -> Bool {
        waits.withLock { $0.blocker = nil }
        guard let place, let server = place.process?.start else { return false }
        let known = shown.withLock { $0[server] }
        // The transaction before it has found out.
        if case .alone = place { return known == .statements }
        if let known { return known != .nothing }
        guard let store = holder.stored.postgres else { return false }
        let sight = try await deadline.bound { try await Self.sight(of: place, in: store, after: .zero) }
        let visibility = sight.map { $0.isReadable ? Visibility.statements : .processes } ?? .nothing
        shown.withLock { $0[server] = visibility }
        return visibility != .nothing
    }

    /// What the store's role may see of a server.
    private enum Visibility {
        /// It isn't the store's server.
        case nothing
        /// Its processes, and not what they run.
        case processes
        case statements
    }

    /// Waits until the server says that the statement can't be answered; `nil` if that is never known.
    private func loss(at place: StatementPlace?, isShown: Bool, isInClosure: Bool) async -> SQLError? {
        guard let place else { return nil }
        guard let process = place.process else {
            if isInClosure { return nil }
            do { try await clock.timer(deadline.limit) } catch { return nil }
            let limit = deadline.limit.description
            return SQLError(.closed, "There was no answer within \(limit), so the connection was given up")
        }
        guard isShown, let store = holder.stored.postgres else { return nil }
        var isMissing = false
        var pause = timeToFirstLook
        while true {
            do {
                try await clock.timer(pause)
                pause = holder.lease.length
                let sight = try await deadline.bound { [limit = deadline.limit] in
                    try await Self.sight(of: place, in: store, after: limit)
                }
                if let sight, isInClosure || !sight.isIdle {
                    isMissing = false
                    if let blocker = sight.blocker { tell(of: blocker) }
                    continue
                }
                // Its process may have ended a moment ago, with its answer on the way.
                if case .alone = place, !isMissing {
                    isMissing = true
                    continue
                }
                if sight != nil { return .unanswered(by: process) }
                return isInClosure ? .closed(inClosureWith: process) : .closed(with: process)
            } catch {
                if Task.isCancelled { return nil }
                // A store that can't be asked costs the lease, and with it the statement.
            }
        }
    }

    /// How long a statement runs before the server is asked about it for the first time.
    ///
    /// A script tries to get a table again and again, for a short time each. After a lease of such tries, the
    /// transaction that has the table can only be seen during one of them.
    private var timeToFirstLook: Duration {
        let length = holder.lease.length
        guard let firstFailure = waits.withLock({ $0.firstFailure }) else { return length }
        return min(length, max(.milliseconds(500), firstFailure + length - clock.uptime()))
    }

    /// A process as the server shows it.
    private struct Sight: Sendable {
        /// True if it runs no statement, and has run none for a while.
        let isIdle: Bool
        /// True if the store's role may see what it runs.
        let isReadable: Bool
        /// The transaction that it waits for.
        let blocker: String?
    }

    /// Looks at the process of a statement; `nil` if the server has none.
    private static func sight(
        of place: StatementPlace,
        in store: any PostgresStore,
        after time: Duration
    ) async throws -> Sight? {
        let (condition, text): (String, String) =
            switch place {
            case .outside: ("false AND $1::text IS NULL", "")
            case .transaction(let process): ("pid::text = $1::text", process.number)
            case .alone(let comment, _): ("left(query, length($1::text)) = $1::text", comment)
            }
        // A prepared transaction has the number 0.
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
        let rows = try await store.ask(sql, [.text(text), .text(place.process?.start ?? "")])
        guard let row = rows.first else { return nil }
        var blocker: String?
        if row.count > 1, case .text(let found) = row[1] { blocker = found }
        return Sight(isIdle: row.first == "idle", isReadable: row.first != "hidden", blocker: blocker)
    }

    /// Reports that the statement waits for somebody's transaction.
    private func tell(of blocker: String) {
        waits.withLock { $0.blocker = blocker }
        var event = context.event(.waiting)
        event.note = blocker
        context.onEvent?(event)
    }
}

extension StatementPlace {
    fileprivate var process: ServerProcess? {
        switch self {
        case .outside: nil
        case .transaction(let process), .alone(_, let process): process
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
