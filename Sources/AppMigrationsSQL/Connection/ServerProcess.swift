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
