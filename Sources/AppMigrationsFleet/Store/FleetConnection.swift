internal import AppMigrations
internal import AppMigrationsSQL

/// The connection of a closure.
///
/// Each statement that this library sends on it has a time limit, and runs even in a cancelled task.
///
/// If a statement isn't answered in time, the connection is closed, and the server rolls the transaction
/// back. It is `@unchecked Sendable`, because other tasks use the connection only while the task that it
/// belongs to is suspended.
final class FleetConnection<Base: AsyncSQLConnection>: AsyncSQLConnection, @unchecked Sendable {
    private let deadline: Deadline
    private let limit: Duration
    private let connect: nonisolated(nonsending) () async throws -> Base
    /// The connection after it was opened, and whether it was closed.
    private let opened = Guarded<(base: Base?, isClosed: Bool)>((nil, false))
    private var hasBegun = false
    /// The settings before this library has changed them for the transaction, and after that.
    ///
    /// Before the commit, they show which settings the closure has changed.
    private(set) var settings = [SQLValue]()

    static var dialect: SQLDialect { Base.dialect }

    static func serverError(from error: any Error) -> ServerError? { Base.serverError(from: error) }

    init(
        within deadline: Deadline,
        lockTimeout: Duration = .zero,
        connect: nonisolated(nonsending) @escaping () async throws -> Base
    ) {
        self.deadline = deadline
        limit = deadline.limit + lockTimeout
        self.connect = connect
    }

    /// Connects within the deadline.
    ///
    /// If this throws, the caller has to call ``close()``. A connection that is opened after ``close()`` is
    /// closed at once.
    nonisolated(nonsending) func open() async throws -> Base {
        let isolation = #isolation
        let opening = ClosureOfCaller { [self] in
            let base = try await connect()
            let isClosed = opened.withLock { opened in
                if !opened.isClosed { opened.base = base }
                return opened.isClosed
            }
            if isClosed { await base.close() }
        }
        try await SQLError.convertingServerErrors(of: Base.self) {
            try await deadline.bound { try await opening.call(on: isolation) }
        }
        return try base
    }

    private var base: Base {
        get throws(SQLError) {
            if let base = opened.withLock({ $0.base }) { return base }
            throw SQLError(.closed, "The connection was closed")
        }
    }

    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        let isRollback = sql == "ROLLBACK"
        if isRollback, opened.withLock({ $0.isClosed }) { return [] }
        let base = try base
        let isolation = #isolation
        let statement = ClosureOfCaller { try await base.query(sql, arguments) }
        do {
            return try await SQLError.convertingServerErrors(of: Base.self) {
                // A rollback never waits for a lock, so the default limit is enough.
                try await uncancelled { [deadline, limit = isRollback ? nil : limit] in
                    try await deadline.bound(limit) { try await statement.call(on: isolation) }
                }
            }
        } catch {
            if error is Overdue { await close() }
            throw error
        }
    }

    /// Closes the connection.
    ///
    /// If that isn't answered within the deadline, this returns anyway.
    nonisolated(nonsending) func close() async {
        let base = opened.withLock { opened in
            defer { opened = (nil, true) }
            return opened.base
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
    static var readMarkSQL: String { "SELECT current_setting('app_migrations.transaction', true)" }

    /// True if this library's transaction is open on the connection.
    ///
    /// The mark is local to a transaction: outside of a transaction it is gone after the statement that sets
    /// it.
    nonisolated(nonsending) var isMarked: Bool {
        get async throws { try await query(Self.readMarkSQL) == [["open"]] }
    }

    private static var setMarkSQL: String { "SELECT set_config('app_migrations.transaction', 'open', true)" }

    /// Begins a transaction.
    ///
    /// The server ends it, and releases its locks, if no statement arrives for `idle`. Its statements wait
    /// for each lock for at most `lockTimeout`.
    nonisolated(nonsending) func begin(idle: Duration, lockTimeout: Duration) async throws {
        // Check that no transaction is open. PostgreSQL only warns about a BEGIN in a transaction, and our
        // COMMIT would then end the transaction of somebody else.
        try await query(Self.setMarkSQL)
        if try await isMarked { throw SQLError.inTransaction }
        hasBegun = true
        try await query("BEGIN ISOLATION LEVEL READ COMMITTED")
        settings = try await query(PostgresSettings.reading).flatMap(\.self)
        try await query(PostgresSettings.times(lock: lockTimeout, idle: idle))
        try await query(Self.setMarkSQL)
        settings += try await query(PostgresSettings.reading).flatMap(\.self)
    }

    /// Rolls back the transaction, and then closes the connection if `thenClose` is true.
    ///
    /// Returns true if a transaction was begun and its connection was closed: before this call, or because
    /// the rollback failed. Then the server rolls back by itself.
    nonisolated(nonsending) func rollBack(thenClose: Bool = true) async -> Bool {
        if hasBegun {
            do { try await query("ROLLBACK") } catch { await close() }
        }
        let connectionFailed = hasBegun && opened.withLock { $0.isClosed }
        if thenClose { await close() }
        return connectionFailed
    }
}
