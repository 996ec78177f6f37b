/// A request of rules to their connection, or to their caller.
enum SQLRequest {
    /// One statement.
    case query(String, [SQLValue])
    /// One statement of a cleanup, which also runs in a cancelled task.
    case undo(String, [SQLValue])
    /// Any number of statements, for a connection that accepts a script.
    case script(String)
    /// A call of the caller's closure.
    ///
    /// The caller knows the reason.
    case call

    /// Carries out the request on a connection that blocks.
    func answer(on db: any SQLConnection, _ call: () throws -> Void) throws -> SQLRows {
        switch self {
        case .query(let sql, let arguments), .undo(let sql, let arguments):
            return try db.query(sql, arguments)
        case .script(let text): try db.execute(script: text)
        case .call: try call()
        }
        return []
    }

    /// Carries out the request on a connection that is awaited.
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
