import CPostgres

/// A server's answers to a script, statement by statement, and the tables that the script left.
struct Outcome: Equatable {
    /// The SQLSTATE of an error; `nil` for a statement that ran.
    struct Result: Equatable {
        let state: String?
        let text: String
    }

    var results = [Result]()
    var isInTransaction = true
    /// The rows, routines, rules and comments after it; nothing where the script failed, since they are rolled back.
    var effect = ""

    var failure: String? { results.lazy.compactMap(\.state).first }
    /// The statements before the first that failed.
    var successes: ArraySlice<Result> { results.prefix { $0.state == nil } }
}

/// A connection of libpq that says everything it heard.
final class Server {
    private let connection: OpaquePointer?

    init(_ info: String) throws {
        connection = PQconnectdb(info)
        guard PQstatus(connection) == CONNECTION_OK else { throw Failure(text: "no connection") }
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
    }

    deinit { PQfinish(connection) }

    struct Failure: Error {
        let text: String
    }

    /// The whole script in one call, which is what `PQexec` sends and reads.
    func whole(_ script: String) throws -> [Outcome.Result] {
        guard PQsendQuery(connection, script) == 1 else { throw Failure(text: "not sent") }
        return try results()
    }

    /// One statement with the extended protocol.
    func statement(_ text: String) throws -> [Outcome.Result] {
        guard PQsendQueryParams(connection, text, 0, nil, nil, nil, nil, 0) == 1 else {
            throw Failure(text: "not sent")
        }
        return try results()
    }

    func run(_ sql: String) throws {
        if let state = try whole(sql).lazy.compactMap(\.state).first {
            throw Failure(text: "\(sql): \(state)")
        }
    }

    var isInTransaction: Bool { PQtransactionStatus(connection) != PQTRANS_IDLE }

    private func results() throws -> [Outcome.Result] {
        var results = [Outcome.Result]()
        while let result = PQgetResult(connection) {
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_EMPTY_QUERY: break
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK: results.append(.init(state: nil, text: text(of: result)))
            case PGRES_COPY_IN:
                PQputCopyEnd(connection, "refused")
                results.append(.init(state: "COPY", text: ""))
            case PGRES_COPY_OUT:
                results.append(.init(state: "COPY", text: ""))
                var row: UnsafeMutablePointer<CChar>?
                while PQgetCopyData(connection, &row, 0) > 0 { PQfreemem(row) }
            default:
                guard PQstatus(connection) == CONNECTION_OK, let state = PQresultErrorField(result, 67) else {
                    throw Failure(text: String(cString: PQerrorMessage(connection)))
                }
                results.append(.init(state: String(cString: state), text: ""))
            }
        }
        return results
    }

    private func text(of result: OpaquePointer) -> String {
        var text = String(cString: PQcmdStatus(result))
        for row in 0..<PQntuples(result) {
            text += "\n"
            for column in 0..<PQnfields(result) {
                text += String(cString: PQgetvalue(result, row, column)) + "\u{1F}"
            }
        }
        for column in 0..<PQnfields(result) { text += "\n" + String(cString: PQfname(result, column)) }
        return text
    }
}
