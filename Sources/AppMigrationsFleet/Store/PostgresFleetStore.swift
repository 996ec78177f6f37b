internal import AppMigrations
public import AppMigrationsSQL

/// A store in a table of PostgreSQL, which is made where it is missing.
///
/// ```sql
/// CREATE TABLE app_migration_state (
///     name TEXT NOT NULL PRIMARY KEY,
///     revision BIGINT NOT NULL,
///     document TEXT NOT NULL
/// )
/// ```
///
/// ```swift
/// let store = PostgresFleetStore { try await connect() }
/// ```
///
/// Each call is one statement, so that it works behind a pooler that lends a connection for one transaction.
/// The store keeps one connection between its calls, and makes another one where it has failed, was cancelled
/// or is in use. Who connects, closes: the store closes what it has connected.
public final class PostgresFleetStore<Connection: AsyncSQLConnection & Sendable>: FleetStore {
    let table: FleetTable
    private let connect: @Sendable () async throws -> Connection
    private let kept = Guarded<(any AsyncSQLConnection & Sendable)?>(nil)

    /// Connects to nothing yet.
    ///
    /// - Parameters:
    ///   - table: The table's name, after a dot where it has a schema.
    ///   - connect: Makes a connection to the database that all hosts share. It is called again after a
    ///     failure.
    public init(
        table: String = "app_migration_state",
        connect: @escaping @Sendable () async throws -> Connection
    ) {
        self.table = FleetTable(table)
        self.connect = connect
    }

    deinit {
        guard let connection = kept.withLock({ $0 }) else { return }
        Task { await connection.close() }
    }

    public func document(named name: String) async throws -> FleetDocument? {
        try await lending { try await self.table.document(named: name, on: $0) }
    }

    public func replaceDocument(
        named name: String,
        ifRevision revision: FleetRevision?,
        with document: [UInt8]
    ) async throws -> FleetRevision? {
        try await lending {
            try await self.table.replaceDocument(named: name, ifRevision: revision, with: document, on: $0)
        }
    }

    /// Lends the connection that is kept to one call, or a new one.
    ///
    /// No call waits for another one, which may hang. A connection that was kept may have ended with its
    /// server meanwhile, so that its error is answered by a new one.
    private func lending<Value>(
        _ body: (any AsyncSQLConnection & Sendable) async throws -> Value
    ) async throws -> Value {
        var former = kept.withLock { kept in
            defer { kept = nil }
            return kept
        }
        while true {
            let connection =
                if let former { former } else { try await SQLError.telling(Connection.self, connect) }
            do {
                // A call that has missed its deadline is cancelled: a client that goes on all the same ends
                // with its connection.
                let value = try await withTaskCancellationHandler {
                    try await body(connection)
                } onCancel: {
                    Task { await connection.close() }
                }
                let isKept = kept.withLock { kept in
                    if kept != nil || Task.isCancelled { return false }
                    kept = connection
                    return true
                }
                if !isKept { await connection.close() }
                return value
            } catch {
                await connection.close()
                if former == nil || Task.isCancelled {
                    guard let server = Connection.serverError(from: error) else { throw error }
                    throw SQLError.wrapped(error, as: .statementFailed, server: server)
                }
                former = nil
            }
        }
    }
}

extension PostgresFleetStore: PostgresStore {
    func ask(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        try await lending { try await $0.query(sql, arguments) }
    }

    func serverError(from error: any Error) -> ServerError? { Connection.serverError(from: error) }
}

/// A store that can write a document in the transaction of a closure.
protocol PostgresStore: FleetStore {
    var table: FleetTable { get }

    func ask(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]]

    /// What the server said, for an error of the store's client that a closure threw.
    func serverError(from error: any Error) -> ServerError?
}
