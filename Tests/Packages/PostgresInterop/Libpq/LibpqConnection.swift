import AppMigrationsSQL
import CPostgres
import Foundation

/// A connection of libpq, whose calls block a thread of its queue.
final class LibpqConnection: AsyncSQLConnection,
    @unchecked Sendable
{
    static var dialect: SQLDialect { .postgres }
    private let queue = DispatchQueue(label: "libpq")
    /// Only the queue uses it.
    private var db: OpaquePointer?
    /// A second descriptor.
    ///
    /// libpq can't close it, nor reuse it.
    private var socket: FileHandle?

    static func connect(
        _ info: String
    ) async throws -> LibpqConnection {
        let connection = LibpqConnection()
        try await connection.onQueue { try connection.open(info) }
        return connection
    }

    @discardableResult nonisolated(nonsending) func query(
        _ sql: String,
        _ arguments: [SQLValue]
    ) async throws -> [[SQLValue]] {
        try await onQueue { try self.run(sql, arguments) }
    }

    /// Ends a running statement: its call throws.
    nonisolated(nonsending) func close() async {
        if let socket {
            shutdown(socket.fileDescriptor, Int32(SHUT_RDWR))
        }
        await withCheckedContinuation { continuation in
            queue.async {
                PQfinish(self.db)
                self.db = nil
                continuation.resume()
            }
        }
    }

    deinit { PQfinish(db) }

    static func serverError(from error: any Error) -> ServerError? {
        (error as? LibpqError)?.server
    }

    private func onQueue<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result(catching: body))
            }
        }
    }

    private func open(_ info: String) throws {
        db = PQconnectdb(info)
        guard PQstatus(db) == CONNECTION_OK
        else { throw LibpqError(db) }
        // libpq would print each notice.
        PQsetNoticeProcessor(db, { _, _ in }, nil)
        let copy = dup(PQsocket(db))
        if copy < 0 { throw LibpqError("Too many open files") }
        socket = FileHandle(
            fileDescriptor: copy,
            closeOnDealloc: true
        )
    }

    private func run(
        _ sql: String,
        _ arguments: [SQLValue]
    ) throws -> [[SQLValue]] {
        guard db != nil else { throw LibpqError("It is closed") }
        let texts = try arguments.map { try $0.libpqText() }
        let values = texts.map { $0.flatMap { strdup($0) } }
        defer { for value in values { free(value) } }
        let result = PQexecParams(
            db,
            sql,
            Int32(values.count),
            nil,
            values.map { UnsafePointer($0) },
            nil,
            nil,
            0
        )
        defer { PQclear(result) }
        let good = [
            PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY,
        ]
        guard good.contains(PQresultStatus(result))
        else { throw LibpqError(db, result) }
        return (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { column in
                if PQgetisnull(result, row, column) == 1 {
                    return .null
                }
                let text = PQgetvalue(result, row, column)
                return .text(text.map { String(cString: $0) } ?? "")
            }
        }
    }
}

struct LibpqError: Error, CustomStringConvertible {
    let server: ServerError
    var description: String { server.message }

    init(_ message: String) {
        server = ServerError(message: message)
    }

    /// Without an SQLSTATE, the connection was lost.
    init(_ db: OpaquePointer?, _ result: OpaquePointer? = nil) {
        // In C, PG_DIAG_SQLSTATE is the character C.
        func field(_ letter: Unicode.Scalar) -> String? {
            PQresultErrorField(result, Int32(letter.value))
                .map { String(cString: $0) }
        }
        server = ServerError(
            message: field("M")
                ?? String(cString: PQerrorMessage(db)),
            sqlState: field("C"),
            detail: field("D"),
            hint: field("H")
        )
    }
}

extension SQLValue {
    struct ZeroByte: Error {}

    /// The value as the server reads it; `nil` for NULL.
    fileprivate func libpqText() throws -> String? {
        switch self {
        case .null: return nil
        case .integer(let value): return "\(value)"
        case .real(let value): return "\(value)"
        case .blob(let bytes):
            return bytes.reduce(into: "\\x") {
                $0 += ($1 < 16 ? "0" : "")
                $0 += String($1, radix: 16)
            }
        case .text(let value):
            // C would end the text there.
            if value.utf8.contains(0) { throw ZeroByte() }
            return value
        }
    }
}

typealias MigrationConnection = LibpqConnection

/// Connects next to the app's own pool.
func connect() async throws -> MigrationConnection {
    var info = "host=db user=notes dbname=notes connect_timeout=10"
    // If dbname is there twice, libpq takes the last one.
    if let name = TestDatabase.name { info += " dbname=\(name)" }
    return try await MigrationConnection.connect(info)
}

enum TestDatabase {
    /// The database that a test has created for itself.
    @TaskLocal static var name: String?
}
