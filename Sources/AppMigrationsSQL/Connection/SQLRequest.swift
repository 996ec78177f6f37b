/// A request of synchronous database code (``SQLRules``): a statement on its connection, or a call of the
/// caller's closure.
enum SQLRequest {
    /// One statement.
    case query(String, [SQLValue])
    /// One statement of a cleanup, for example ROLLBACK. It also runs in a cancelled task.
    case undo(String, [SQLValue])
    /// Any number of statements, for a connection that accepts a script.
    case script(String)
    /// Call the caller's closure.
    ///
    /// The request has no arguments. The closure itself looks up what to do, for example in
    /// ``SQLMigrationRun/callback``.
    case call

    /// The code of an error that has no code of its own.
    var errorCode: SQLError.Code {
        switch self {
        case .query, .undo: .statementFailed
        case .script, .call: .migrationFailed
        }
    }

    var isCallback: Bool { if case .call = self { true } else { false } }

    /// Performs the request on a connection that blocks.
    func answer(on db: any SQLConnection, _ call: () throws -> Void) throws -> SQLRows {
        switch self {
        case .query(let sql, let arguments), .undo(let sql, let arguments):
            return try db.query(sql, arguments)
        case .script(let text): try db.execute(script: text)
        case .call: try call()
        }
        return []
    }

    /// Performs the request on an asynchronous connection.
    ///
    /// A script has one statement here: the dialect has already split it.
    nonisolated(nonsending) func answer(
        awaiting db: any AsyncSQLConnection,
        _ call: nonisolated(nonsending) () async throws -> Void
    ) async throws -> SQLRows {
        switch self {
        case .query(let sql, let arguments): return try await db.query(sql, arguments)
        case .undo(let sql, let arguments): return try await db.undo(sql, arguments)
        case .script(let text): return try await db.query(text, [])
        case .call: try await call()
        }
        return []
    }
}
