internal import AppMigrations

/// What rules ask of the connection they run on, or of their caller.
enum SQLRequest {
    /// One statement.
    case query(String, [SQLValue])
    /// One statement that takes something back, also in a cancelled task.
    case undo(String, [SQLValue])
    /// Any number of statements, where the connection takes them at once.
    case script(String)
    /// The closure of the caller, which knows what it is called for.
    case call
    case pause(Duration)

    /// The code of a failure that is no error of this library.
    var code: SQLError.Code {
        switch self {
        case .query, .undo: .statementFailed
        case .script, .call, .pause: .migrationFailed
        }
    }

    /// Whether a failure is the connection's, which may have words of its own for a lock.
    var isOfDatabase: Bool {
        switch self {
        case .query, .undo, .script: true
        case .call, .pause: false
        }
    }

    /// Answers on a connection that blocks.
    func answer(on db: any SQLConnection, _ call: () throws -> Void) throws -> SQLRows {
        switch self {
        case .query(let sql, let arguments), .undo(let sql, let arguments):
            return try db.query(sql, arguments)
        case .script(let text): try db.execute(script: text)
        case .call: try call()
        case .pause(let time): Platform.pause(time)
        }
        return []
    }

    /// Answers on a connection that is awaited.
    ///
    /// Each statement goes to it by itself: where a script has several, the dialect has split it before.
    nonisolated(nonsending) func answer(
        awaiting db: any AsyncSQLConnection,
        _ call: nonisolated(nonsending) () async throws -> Void
    ) async throws -> SQLRows {
        switch self {
        case .query(let sql, let arguments): return try await db.query(sql, arguments)
        case .undo(let sql, let arguments): return try await db.undo(sql, arguments)
        case .script(let text): return try await db.query(text, [])
        case .call: try await call()
        case .pause(let time): try await Task.sleep(for: time)
        }
        return []
    }
}
