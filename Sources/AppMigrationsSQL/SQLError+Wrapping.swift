extension SQLError {
    /// Converts an error of any library to an ``SQLError``.
    ///
    /// The SQLSTATE of the server decides the code. If there is none and `findingLocks` is true, the text of
    /// the error is searched for the message that a lock wasn't available. That is right for statements of
    /// this library and of scripts, but not for a closure, which may throw any text.
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
                $0.sqlState = state
                $0.code = Code(sqlState: state) ?? code
            } else if findingLocks, lockMessages.contains(where: $0.message.contains) {
                $0.code = .busy
            }
            $0.underlyingError = error
            // A `ServerError` without an SQLSTATE means that the connection was lost, and that the client
            // made the error itself.
            $0.isOfLostConnection = server.map { $0.sqlState == nil } ?? false
        }
    }

    /// True if the same work may succeed later without any change by a person.
    ///
    /// For PostgreSQL, these SQLSTATEs count ("PostgreSQL Error Codes"): a lock that was not available, a
    /// deadlock, a serialization failure, a lost connection, missing resources, and a server that is shutting
    /// down or starting.
    package var isTransient: Bool {
        guard let sqlState else {
            // If a transaction ended early because of another error, it is transient if that error is.
            if code == .transactionEnded, let cause = underlyingError as? SQLError {
                return cause.isTransient
            }
            return code == .busy || code == .closed || facts.isOfLostConnection
        }
        if isStatementPoolingRefusal { return false }
        return Self.isConcurrencyFailure(sqlState) || sqlState == "55P03"
            || ["08", "53", "57P"].contains { sqlState.hasPrefix($0) }
    }

    /// True if PgBouncer refuses transactions, because it is configured with `pool_mode = statement`.
    ///
    /// PgBouncer uses the SQLSTATE 08P01 for nearly all of its own errors, for example if it has lost the
    /// server or the pool is full. So the message has to be read. PgBouncer doesn't translate it.
    private var isStatementPoolingRefusal: Bool {
        sqlState == "08P01" && message.contains("statement pooling mode")
    }

    /// Runs a closure that uses a connection, and converts its error if the server reported one.
    ///
    /// The description of a client's error is not enough: PostgresNIO doesn't say there why it can't connect.
    package nonisolated(nonsending) static func convertingServerErrors<Value>(
        of type: any AsyncSQLConnection.Type,
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch {
            guard let server = type.serverError(from: error) else { throw error }
            throw wrapped(error, as: .statementFailed, server: server)
        }
    }

    /// True for serialization_failure and deadlock_detected: the same transaction may succeed if it is tried
    /// again.
    package static func isConcurrencyFailure(_ sqlState: String?) -> Bool {
        sqlState == "40001" || sqlState == "40P01"
    }

    package static var taskCancelled: SQLError { SQLError(.cancelled, "The task was cancelled") }

    /// SQLite's messages for SQLITE_BUSY and SQLITE_LOCKED ("sqlite3_errstr"), and PostgreSQL's message for
    /// `lock_not_available`, for a connection that reports no SQLSTATE.
    private static var lockMessages: [String] {
        ["database is locked", "database table is locked", "due to lock timeout"]
    }

    /// True if SQLite's message says that the connection has no function, collation, module or tokenizer of a
    /// name.
    ///
    /// The app may have registered one, but only on its own connections.
    package static func saysRegistrationIsMissing(_ message: String) -> Bool {
        [
            "no such function: ", "no such collation sequence: ", "no such module: ", "no such tokenizer: ",
            "unknown tokenizer: ", "unknown function: ",
        ].contains(where: message.contains)
    }

    /// Wraps an error that the caller's closure threw while it worked on a store.
    ///
    /// Adds the store's path, and `outcome`: a sentence about the state in which the store is now.
    ///
    /// An error of this library keeps its code and its facts.
    package static func failure(_ error: any Error, of store: String, outcome: String) -> SQLError {
        wrapped(error, as: .migrationFailed).with {
            if $0.path == nil, $0.line == nil { $0.path = store }
            $0.outcome = outcome
        }
    }

    /// This error, with a note in its message that the cleanup after it (`action`) failed as well.
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
}
