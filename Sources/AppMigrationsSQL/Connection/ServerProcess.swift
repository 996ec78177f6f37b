/// A process of a PostgreSQL server, which runs the statements of one connection.
package struct ServerProcess: Sendable {
    package let number: String
    /// The server's address, for people to read.
    package let address: String
    /// The time at which the server started, in microseconds.
    ///
    /// It identifies this run of the server, because another server, or this one after a restart, has another
    /// time.
    package let start: String

    /// A query that returns the process on which it runs, as the row for ``init(_:)``.
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
