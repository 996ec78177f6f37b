internal import AppMigrations
internal import AppMigrationsSQL

/// An attempt whose work is done in batches, each of which is one transaction with its cursor.
///
/// The lease keeps hosts from doing one work twice. It is the database that makes each batch run once: a host that has lost its
/// lease and goes on for a moment begins where the other one ended.
extension FleetAttempt {
    nonisolated(nonsending) func run<Connection: AsyncSQLConnection>(
        in connect: nonisolated(nonsending) @escaping () async throws -> Connection,
        ledger: String,
        lockTimeout: Duration,
        batches: nonisolated(nonsending) (Connection, MigrationBatch) async throws -> MigrationBatch.Outcome
    ) async throws(MigrationError) {
        let (_, failure) = await connected(by: connect) { db, session in
            _ = try await BatchRun.run(
                closing: BoundedConnection(db, deadline, lockTimeout + deadline.limit),
                ledger: ledger,
                of: holder.stored.location.name,
                context.version,
                from: context.checkpoint,
                lockTimeout: lockTimeout,
                telling: { try await context.reach($0) }
            ) {
                let batch = $0
                return try await watching(session) { try await batches(db, batch) }
            }
        }
        try await finish(failure)
    }

    /// Makes the connection of a closure within the deadline, under the lease, and calls `body` with it.
    ///
    /// The error of either is given, not thrown. A connection that comes too late is closed.
    nonisolated(nonsending) func connected<Connection: AsyncSQLConnection>(
        by connect: nonisolated(nonsending) @escaping () async throws -> Connection,
        _ body: nonisolated(nonsending) (Connection, FleetSession) async throws -> Void
    ) async -> (session: FleetSession?, failure: (any Error)?) {
        let made = Guarded<(session: FleetSession?, isOver: Bool)>((nil, false))
        let failure = await call { [deadline] in
            await made.withLock { $0.session }?.close(deadline)
        } _: { _ in
            var db: Connection?
            let closure = ClosureOfCaller {
                let connection = try await connect()
                db = connection
                return FleetSession(db: connection)
            }
            let isolation = #isolation
            let session = try await SQLError.telling(Connection.self) {
                try await deadline.bound {
                    let session = try await closure.call(on: isolation)
                    let isOver = made.withLock { made in
                        made.session = session
                        return made.isOver
                    }
                    if isOver { await session.db.close() }
                    return session
                }
            }
            if let db { try await body(db, session) }
        }
        let session = made.withLock { made in
            made.isOver = true
            return made.session
        }
        return (session, failure)
    }
}

extension FleetMigrationContext {
    /// Takes down how far the batches came.
    fileprivate func reach(_ place: BatchRun.Place) async throws(MigrationError) {
        if place.isCheckpoint {
            try await saveCheckpoint(place.cursor, progress: place.progress)
        } else if let progress = place.progress {
            reportProgress(progress)
        }
    }
}

/// A connection of batches, on which each statement of this library has an end.
///
/// A statement that has none is left behind. Nothing is sent after it, and the server ends its transaction with the connection.
private final class BoundedConnection<Connection: AsyncSQLConnection>: AsyncSQLConnection {
    private let session: FleetSession
    private let deadline: Deadline
    private let limit: Duration
    private let isLeft = Guarded(false)

    static var dialect: SQLDialect { Connection.dialect }

    static func report(of error: any Error) -> SQLErrorReport? { Connection.report(of: error) }

    init(_ db: Connection, _ deadline: Deadline, _ limit: Duration) {
        (session, self.deadline, self.limit) = (FleetSession(db: db), deadline, limit)
    }

    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        if isLeft.withLock({ $0 }) {
            if sql == "ROLLBACK" { return [] }
            throw Overdue(limit: limit)
        }
        do {
            // A rollback waits for no lock.
            return try await session.asking(deadline, within: sql == "ROLLBACK" ? nil : limit) { session, _ in
                try await session.db.query(sql, arguments)
            }
        } catch {
            if error is Overdue { isLeft.withLock { $0 = true } }
            throw error
        }
    }

    nonisolated(nonsending) func close() async { await session.close(deadline) }
}
