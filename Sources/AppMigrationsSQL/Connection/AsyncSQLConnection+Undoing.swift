extension AsyncSQLConnection {
    /// Runs one statement in a task that isn't cancelled with the caller's, on the caller's actor.
    ///
    /// Many a library takes no statement in a cancelled task. The connection would stay in its transaction, and what the app
    /// writes next would be in it.
    @discardableResult
    package nonisolated(nonsending) func undo(
        _ sql: String,
        _ arguments: [SQLValue] = []
    ) async throws -> [[SQLValue]] {
        let (connection, isolation) = (LentConnection(db: self), #isolation)
        return try await Task { try await connection.query(sql, arguments, on: isolation) }.value
    }
}

/// A connection that another task uses, while the task that it belongs to does nothing but wait.
private struct LentConnection: @unchecked Sendable {
    let db: any AsyncSQLConnection

    func query(
        _ sql: String,
        _ arguments: [SQLValue],
        on isolation: isolated (any Actor)?
    ) async throws -> [[SQLValue]] {
        try await db.query(sql, arguments)
    }
}
