internal import AppMigrationsPostgreSQL
internal import AppMigrationsSQL

/// A connection whose transaction holds a closure's work and the document.
///
/// Another task uses it, while the task that it belongs to does nothing but wait.
struct FleetSession: @unchecked Sendable {
    let db: any AsyncSQLConnection

    /// Runs statements of this library on the caller's actor until the deadline, also where the caller's task is cancelled.
    nonisolated(nonsending) func asking<Value: Sendable>(
        _ deadline: Deadline,
        within limit: Duration? = nil,
        _ body: @escaping @Sendable (Self, isolated (any Actor)?) async throws -> Value
    ) async throws -> Value {
        let isolation = #isolation
        return try await SQLError.telling(type(of: db)) {
            try await uncancelled { try await deadline.bound(limit) { try await body(self, isolation) } }
        }
    }

    /// Refuses a connection whose transaction the COMMIT would end: PostgreSQL only warns of a BEGIN in a transaction.
    nonisolated(nonsending) func requireNoTransaction() async throws {
        try await mark()
        if try await isMarked() {
            throw SQLError(.alreadyInTransaction, "The connection is in a transaction already")
        }
    }

    /// Begins a transaction that gives up its locks when its host sends nothing for `limit`; gives the settings of the session.
    nonisolated(nonsending) func begin(_ limit: Duration) async throws -> [SQLValue] {
        try await db.query("BEGIN ISOLATION LEVEL READ COMMITTED")
        let settings = try await db.query(PostgresSettings.reading)
        try await db.query(PostgresSettings.times(idle: limit))
        try await mark()
        return try await (settings + db.query(PostgresSettings.reading)).flatMap(\.self)
    }

    // The mark is local to the transaction: outside of one it is gone after this very statement.
    nonisolated(nonsending) private func mark() async throws {
        try await db.query("SELECT set_config('app_migrations.transaction', 'open', true)")
    }

    static var asksForMark: String { "SELECT current_setting('app_migrations.transaction', true)" }

    nonisolated(nonsending) private func isMarked() async throws -> Bool {
        try await db.query(Self.asksForMark) == [["open"]]
    }

    /// Refuses to write the record where the closure has ended the transaction, and puts back what it has set.
    nonisolated(nonsending) func requireTransaction(
        _ settings: [SQLValue],
        waitingForLocks limit: Duration
    ) async throws {
        if try await !isMarked() { throw SQLError(.transactionEnded, "The closure ended the transaction") }
        try await db.query(PostgresSettings.restoring, settings)
        try await db.query("SET LOCAL lock_timeout = \(limit.wholeMilliseconds)")
    }

    nonisolated(nonsending) func rollBack() async throws { try await db.query("ROLLBACK") }

    /// Rolls back after an error; true if the connection is gone, with which the server ends the transaction.
    nonisolated(nonsending) func isGone(after cause: any Error, _ deadline: Deadline) async -> Bool {
        do {
            // The connection takes no statement while one that wasn't answered is under way.
            if cause is Overdue { throw cause }
            try await asking(deadline) { session, _ in try await session.rollBack() }
            return false
        } catch {
            await close(deadline)
            return true
        }
    }

    /// Closes the connection, for which nobody waits that doesn't answer.
    nonisolated(nonsending) func close(_ deadline: Deadline) async {
        do { try await asking(deadline) { session, _ in await session.db.close() } } catch {
            return
        }
    }
}

extension SQLError {
    static var otherDatabase: SQLError {
        SQLError(
            .statementFailed,
            "The connection of in: doesn't lead to the database of the fleet's store, which has to be a PostgresFleetStore"
        )
    }

    static var connectionOfStore: SQLError {
        SQLError(
            .alreadyInTransaction,
            "The connection of in: is the store's own, by which the lease is renewed meanwhile. Make another one for in:"
        )
    }
}
