/// A request of an ``SQLOperation``: to run a statement on its connection, or to call the caller's closure.
enum SQLRequest {
    /// One statement.
    case query(String, [SQLValue])
    /// One statement that runs even if the task is cancelled, for example the ROLLBACK of a cleanup.
    case queryIgnoringCancellation(String, [SQLValue])
    /// Any number of statements, for a connection that accepts a script.
    case script(String)
    /// A call of the caller's closure.
    ///
    /// The request has no arguments. The closure itself looks up what to do, for example in
    /// ``SQLMigrationRun/callback``.
    case call

    /// The code for an error that isn't an ``SQLError`` and so has no code of its own.
    var errorCode: SQLError.Code {
        switch self {
        case .query, .queryIgnoringCancellation: .statementFailed
        case .script, .call: .migrationFailed
        }
    }

    var isCallback: Bool { if case .call = self { true } else { false } }

    /// Performs the request on a connection that blocks.
    func answer(on db: any SQLConnection, calling call: () throws -> Void) throws -> SQLRows {
        switch self {
        case .query(let sql, let arguments), .queryIgnoringCancellation(let sql, let arguments):
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
        calling call: nonisolated(nonsending) () async throws -> Void
    ) async throws -> SQLRows {
        switch self {
        case .query(let sql, let arguments): return try await db.query(sql, arguments)
        case .queryIgnoringCancellation(let sql, let arguments):
            return try await db.queryIgnoringCancellation(sql, arguments)
        case .script(let text): return try await db.query(text, [])
        case .call: try await call()
        }
        return []
    }
}
