/// Ends the statements of a task that are never answered.
///
/// A fleet sets one around each of its closures. A connection can go silent, for example after a failover.
/// Its client may then wait without end, even after the task was cancelled.
package protocol AnswerWatch: Sendable {
    /// Runs a statement of this library, and returns its answer.
    ///
    /// - Throws: ``UnansweredStatement`` if no answer will come. The statement is left behind: nobody waits
    ///   for it any more.
    nonisolated(nonsending) func answer(
        at place: StatementPlace?,
        of connection: any AsyncSQLConnection.Type,
        _ statement: nonisolated(nonsending) @escaping () async throws -> SQLRows
    ) async throws -> SQLRows

    /// Calls a closure of the app, and closes its connection if no statement on it can be answered any more.
    ///
    /// - Throws: The closure's error, or ``UnansweredStatement`` if the connection was closed.
    nonisolated(nonsending) func call(
        at place: StatementPlace?,
        closing db: any AsyncSQLConnection,
        _ closure: nonisolated(nonsending) () async throws -> Void
    ) async throws
}

/// Where a server of PostgreSQL runs a statement.
package enum StatementPlace: Sendable {
    /// Outside of a transaction.
    ///
    /// A pooler may give each of these short statements to another process.
    case outside
    /// In a transaction, which one process of the server has from its beginning to its end.
    case transaction(ServerProcess)
    /// Outside of a transaction, for as long as it takes.
    ///
    /// It begins with a comment that no other statement has.
    case alone(comment: String, on: ServerProcess)
}

/// A process of a server of PostgreSQL.
package struct ServerProcess: Sendable {
    package let number: String
    /// The server's address, for people to read.
    package let address: String
    /// When the server started, which no two servers did at the same time, nor one server twice.
    package let start: String

    /// The statement whose row is the process that runs it.
    package static var query: String {
        """
        SELECT pg_backend_pid()::text, \
        coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'a local socket'), \(startQuery)
        """
    }

    package static var startQuery: String {
        "(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text"
    }

    package init(_ rows: SQLRows) throws(SQLError) {
        guard let row = rows.first, row.count == 3, case .text(let number) = row[0],
            case .text(let address) = row[1], case .text(let start) = row[2]
        else { throw SQLError(.statementFailed, "The query for the server's process returned \(rows)") }
        self.number = number
        self.address = address
        self.start = start
    }

    package var description: String { "process \(number) of the server at \(address)" }
}

/// A statement was left behind without an answer, and its connection with it.
package struct UnansweredStatement: Error {
    package let reason: SQLError

    package init(_ reason: SQLError) { self.reason = reason }
}
