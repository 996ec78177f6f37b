public import AppMigrationsSQL

/// A store in a table of PostgreSQL or SQLite, which is made where it is missing.
///
/// ```sql
/// CREATE TABLE app_migration_state (
///     name TEXT NOT NULL PRIMARY KEY,
///     revision BIGINT NOT NULL,
///     document TEXT NOT NULL
/// )
/// ```
///
/// Each call is one statement, so that it works behind a pooler that lends a connection for one transaction. Give the store a
/// connection of its own where closures work for long: a lease is renewed through it while the closure runs, and what
/// is written to a connection in the middle of a transaction no other host sees. The calls of one store wait for each
/// other.
public struct SQLFleetStore<Connection: AsyncSQLConnection & Sendable>: FleetStore {
    let connection: Connection
    let statements: SQLFleetStatements
    let turns = Turns()

    /// Takes the connection, and asks nothing of the database yet.
    ///
    /// - Parameters:
    ///   - connection: A connection to the database that all hosts share.
    ///   - table: The table's name, after a dot where it has a schema.
    public init(_ connection: Connection, table: String = "app_migration_state") {
        self.connection = connection
        statements = SQLFleetStatements(Connection.dialect, table: table)
    }

    public func read(_ name: String) async throws -> FleetDocument? {
        // Not by `alone`: this is the whole of a start, and a closure more is seen there.
        try requireNoTransaction()
        await turns.enter()
        defer { turns.leave() }
        return try await statements.read(name, on: connection)
    }

    public func replace(
        _ name: String,
        at revision: FleetRevision?,
        with document: [UInt8]
    ) async throws -> FleetRevision? {
        try await alone { try await statements.replace(name, at: revision, with: document, on: connection) }
    }

    private func requireNoTransaction() throws {
        if let transaction = FleetTransaction.current, transaction.turns === turns {
            throw SQLError(
                .alreadyInTransaction,
                "The store's connection is in the transaction of migration \(transaction.version)"
            )
        }
    }

    private func alone<Value>(_ body: () async throws -> Value) async throws -> Value {
        try requireNoTransaction()
        await turns.enter()
        defer { turns.leave() }
        return try await body()
    }
}

extension SQLFleetStore: SQLBackedFleetStore {
    func rollBack() async throws {
        try await alone {
            do {
                try await connection.undo("ROLLBACK")
            } catch  where !statements.isPostgres {
                // SQLite refuses a ROLLBACK without a transaction, and a BEGIN in one.
                try await connection.query("BEGIN")
                try await connection.query("ROLLBACK")
            }
        }
    }

    func mayUse(_ other: any AsyncSQLConnection) -> Bool {
        // While a transaction of SQLite has written, no connection can renew a lease.
        guard statements.isPostgres else { return true }
        // Two values may stand for one connection: nothing tells.
        guard type(of: other) is AnyClass, Connection.self is AnyClass else { return true }
        return (other as AnyObject) === (connection as AnyObject)
    }
}

/// A store that can write a document in the transaction of a closure.
protocol SQLBackedFleetStore: FleetStore {
    var statements: SQLFleetStatements { get }
    var turns: Turns { get }

    /// Ends a transaction of the store's connection; none is fine as well.
    func rollBack() async throws

    /// Whether the store may be using that very connection, or can't write while a transaction is open there.
    func mayUse(_ other: any AsyncSQLConnection) -> Bool
}

/// A transaction on the store's own connection, as the closure in it can know it.
struct FleetTransaction: Sendable {
    let turns: Turns
    let version: String

    @TaskLocal static var current: FleetTransaction?
}
