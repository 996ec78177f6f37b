extension SQLError {
    /// Makes an error of any library one of this library.
    ///
    /// Its code is told by the SQLSTATE of the server. Without one, and with `findingLocks`, the text of the error may tell that
    /// a lock could not be had. It may for statements of this library and scripts, and not for a closure, which can throw any
    /// text.
    package static func wrapped(
        _ error: any Error,
        as code: Code,
        server: ServerError? = nil,
        findingLocks: Bool = false
    ) -> SQLError {
        if let error = error as? SQLError { return error }
        if error is CancellationError { return taskCancelled }
        return SQLError(code, server?.text ?? "\(error)").with {
            if let state = server?.sqlState {
                ($0.sqlState, $0.code) = (state, Code(sqlState: state) ?? code)
            } else if findingLocks, lockMessages.contains(where: $0.message.contains) {
                $0.code = .busy
            }
            $0.underlyingError = error
            // A client that has nothing of a server to report could not ask one.
            $0.isOfLostConnection = server.map { $0.sqlState == nil } ?? false
        }
    }

    /// True if the same work may succeed later without anyone doing anything.
    ///
    /// For PostgreSQL, these SQLSTATEs count ("PostgreSQL Error Codes"): a lock that was not available, a
    /// deadlock, a serialization failure, a lost connection, missing resources, and a server that is shutting
    /// down or starting.
    package var isTransient: Bool {
        guard let sqlState else {
            // A transaction that ended early may succeed later if its cause may pass.
            if code == .transactionEnded, let cause = underlyingError as? SQLError {
                return cause.isTransient
            }
            return code == .busy || code == .closed || facts.isOfLostConnection
        }
        if isOfStatementPooling { return false }
        return Self.isOfConcurrency(sqlState) || sqlState == "55P03"
            || ["08", "53", "57P"].contains { sqlState.hasPrefix($0) }
    }

    /// True if PgBouncer refuses transactions, because it is configured with `pool_mode = statement`.
    ///
    /// PgBouncer has the SQLSTATE 08P01 for nearly everything that it reports itself, a lost server and a full pool
    /// among them. Only its text says which. It isn't translated.
    private var isOfStatementPooling: Bool {
        sqlState == "08P01" && message.contains("statement pooling mode")
    }

    /// Runs what uses a connection, and lets what it throws say what the server said.
    ///
    /// The description of a client's error is no reason: PostgresNIO hides there why it can't connect.
    package nonisolated(nonsending) static func telling<Value>(
        _ type: any AsyncSQLConnection.Type,
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch {
            guard let server = type.serverError(from: error) else { throw error }
            throw wrapped(error, as: .statementFailed, server: server)
        }
    }

    /// True if the same transaction may succeed when it is tried again: serialization_failure and deadlock_detected.
    package static func isOfConcurrency(_ sqlState: String?) -> Bool {
        sqlState == "40001" || sqlState == "40P01"
    }

    package static var taskCancelled: SQLError { SQLError(.cancelled, "The task was cancelled") }

    /// SQLite's words for SQLITE_BUSY and SQLITE_LOCKED ("sqlite3_errstr"), and PostgreSQL's for `lock_not_available` where the
    /// connection gives no SQLSTATE.
    private static var lockMessages: [String] {
        ["database is locked", "database table is locked", "due to lock timeout"]
    }

    /// The error of a closure that worked on a store for the caller, with what became of the store.
    ///
    /// An error that the closure got from this library keeps its code and its facts.
    package static func failure(_ error: any Error, of store: String, _ outcome: String) -> SQLError {
        wrapped(error, as: .migrationFailed).with {
            if $0.path == nil, $0.line == nil { $0.path = store }
            $0.outcome = outcome
        }
    }

    /// This error, with the failure of what should have cleaned up after it.
    package func adding(_ failure: SQLError, of action: String) -> SQLError {
        with { $0.message += "; and \(action) failed: \(failure.message)" }
    }

    package static func endedTransaction(after cause: SQLError? = nil) -> SQLError {
        let reason = cause.map { " (\($0.message))" } ?? ""
        return SQLError(
            .transactionEnded,
            "The migration ended its transaction\(reason); its work before that may have been committed, and it is not recorded"
        ).with { $0.underlyingError = cause }
    }

    package static var inTransaction: SQLError {
        SQLError(.alreadyInTransaction, "The connection is in a transaction already")
    }

    /// The error of a statement of a script, with its place.
    package func located(_ statement: String, _ line: Int, _ column: Int) -> SQLError {
        with { ($0.line, $0.column, $0.statement) = (line, column, statement) }
    }
}
