internal import AppMigrations
internal import AppMigrationsSQL

/// The connection of a closure, on which each statement of this library has an end, also in a cancelled task.
///
/// One that isn't answered is left behind with the connection, with which the server ends the transaction.
/// Another task uses the connection, while the task that it belongs to does nothing but wait.
final class FleetConnection<Base: AsyncSQLConnection>: AsyncSQLConnection, @unchecked Sendable {
    private let deadline: Deadline
    private let limit: Duration
    private let connect: nonisolated(nonsending) () async throws -> Base
    private let made = Guarded<(base: Base?, isClosed: Bool)>((nil, false))
    private var hasBegun = false
    /// The settings of the session, and those of the transaction besides.
    private(set) var settings = [SQLValue]()

    static var dialect: SQLDialect { Base.dialect }

    static func serverError(from error: any Error) -> ServerError? { Base.serverError(from: error) }

    init(
        _ deadline: Deadline,
        waiting time: Duration = .zero,
        _ connect: nonisolated(nonsending) @escaping () async throws -> Base
    ) {
        self.deadline = deadline
        limit = deadline.limit + time
        self.connect = connect
    }

    /// Connects within the deadline, and closes a connection that comes too late.
    nonisolated(nonsending) func open() async throws -> Base {
        let isolation = #isolation
        let opening = ClosureOfCaller { [self] in
            let base = try await connect()
            let isClosed = made.withLock { made in
                if !made.isClosed { made.base = base }
                return made.isClosed
            }
            if isClosed { await base.close() }
        }
        try await SQLError.telling(Base.self) {
            try await deadline.bound { try await opening.call(on: isolation) }
        }
        return try base
    }

    private var base: Base {
        get throws(SQLError) {
            if let base = made.withLock({ $0.base }) { return base }
            throw SQLError(.closed, "The connection was closed")
        }
    }

    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        let isRollback = sql == "ROLLBACK"
        if isRollback, made.withLock({ $0.isClosed }) { return [] }
        let base = try base
        let isolation = #isolation
        let statement = ClosureOfCaller { try await base.query(sql, arguments) }
        do {
            return try await SQLError.telling(Base.self) {
                // A rollback waits for no lock.
                try await uncancelled { [deadline, limit = isRollback ? nil : limit] in
                    try await deadline.bound(limit) { try await statement.call(on: isolation) }
                }
            }
        } catch {
            if error is Overdue { await close() }
            throw error
        }
    }

    /// Closes the connection, for which nobody waits that doesn't answer.
    nonisolated(nonsending) func close() async {
        let base = made.withLock { made in
            defer { made = (nil, true) }
            return made.base
        }
        guard let base else { return }
        let closing = ClosureOfCaller { await base.close() }
        let isolation = #isolation
        do {
            try await uncancelled { [deadline] in
                try await deadline.bound { try await closing.call(on: isolation) }
            }
        } catch { return }
    }
}

/// The transaction that holds a closure's work and the document.
extension FleetConnection {
    static var asksForMark: String { "SELECT current_setting('app_migrations.transaction', true)" }

    /// The mark is local to the transaction: outside of one it is gone after its very statement.
    nonisolated(nonsending) var isMarked: Bool {
        get async throws { try await query(Self.asksForMark) == [["open"]] }
    }

    private static var marks: String { "SELECT set_config('app_migrations.transaction', 'open', true)" }

    /// Begins a transaction that gives up its locks when its host sends nothing for `idle`, and whose
    /// statements wait for each lock for at most `lockTimeout`.
    nonisolated(nonsending) func begin(idle: Duration, lockTimeout: Duration) async throws {
        // PostgreSQL only warns of a BEGIN in a transaction, which the COMMIT would end.
        try await query(Self.marks)
        if try await isMarked { throw SQLError.inTransaction }
        hasBegun = true
        try await query("BEGIN ISOLATION LEVEL READ COMMITTED")
        settings = try await query(PostgresSettings.reading).flatMap(\.self)
        try await query(PostgresSettings.times(lock: lockTimeout, idle: idle))
        try await query(Self.marks)
        settings += try await query(PostgresSettings.reading).flatMap(\.self)
    }

    /// Rolls back what was begun, and closes the connection behind the last; true if it is gone, with which
    /// the server rolls back.
    nonisolated(nonsending) func rollBack(isLast: Bool = true) async -> Bool {
        if hasBegun {
            do { try await query("ROLLBACK") } catch { await close() }
        }
        let isGone = hasBegun && made.withLock { $0.isClosed }
        if isLast { await close() }
        return isGone
    }
}
