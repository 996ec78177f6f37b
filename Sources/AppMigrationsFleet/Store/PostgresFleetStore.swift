internal import AppMigrations
public import AppMigrationsSQL

/// A store in a table of PostgreSQL.
///
/// The store creates the table if there is none.
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
/// No call needs a transaction of several statements. So the store works behind a pooler that lends a
/// connection for one transaction. The store keeps one connection between its calls. It opens a new one if
/// that connection has failed, was used by a cancelled call, or is in use. The store closes all connections
/// that it has opened.
public final class PostgresFleetStore<Connection: AsyncSQLConnection & Sendable>: FleetStore {
    let table: FleetTable
    private let connect: @Sendable () async throws -> Connection
    private let kept = Guarded<(any AsyncSQLConnection & Sendable)?>(nil)

    /// Creates a store.
    ///
    /// It connects at the first call.
    ///
    /// - Parameters:
    ///   - table: The table's name, or its schema and its name: `schema.table`.
    ///   - connect: Opens a connection to the database that all hosts share. It is called again after a
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
        try await withConnection { try await self.table.document(named: name, on: $0) }
    }

    public func replaceDocument(
        named name: String,
        ifRevision revision: FleetRevision?,
        with document: [UInt8]
    ) async throws -> FleetRevision? {
        try await withConnection {
            try await self.table.replaceDocument(named: name, ifRevision: revision, with: document, on: $0)
        }
    }

    /// Runs a call on the kept connection, or on a new one.
    ///
    /// Calls don't wait for each other, because one may hang. If the kept connection fails, its server may
    /// have restarted since the last call. So the call is tried once more, on a new connection.
    private func withConnection<Value>(
        _ body: (any AsyncSQLConnection & Sendable) async throws -> Value
    ) async throws -> Value {
        var reused = kept.withLock { kept in
            defer { kept = nil }
            return kept
        }
        while true {
            let connection =
                if let reused {
                    reused
                } else {
                    try await SQLError.convertingServerErrors(of: Connection.self, connect)
                }
            do {
                // A call that has missed its deadline is cancelled. Some clients ignore that, and end only if
                // their connection is closed.
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
                if reused == nil || Task.isCancelled {
                    guard let server = Connection.serverError(from: error) else { throw error }
                    throw SQLError.wrapped(error, as: .statementFailed, server: server)
                }
                reused = nil
            }
        }
    }
}

extension PostgresFleetStore: PostgresStore {
    /// Runs a query on the store's connection.
    func ask(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        try await withConnection { try await $0.query(sql, arguments) }
    }

    func serverError(from error: any Error) -> ServerError? { Connection.serverError(from: error) }
}
