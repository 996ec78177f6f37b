public import AppMigrationsSQL
import CPostgres

/// A connection of libpq, as an app writes one to migrate a PostgreSQL database.
public final class PostgresConnection: SQLConnection {
    public static var dialect: SQLDialect { .postgres }

    private let connection: OpaquePointer

    public init(_ info: String) throws {
        guard let connection = PQconnectdb(info) else { throw PostgresError(message: "out of memory") }
        self.connection = connection
        guard PQstatus(connection) == CONNECTION_OK else { throw PostgresError(of: connection) }
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
    }

    deinit { PQfinish(connection) }

    public static func serverError(from error: any Error) -> ServerError? {
        (error as? PostgresError)?.server
    }

    @discardableResult
    public func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] {
        let texts = arguments.map(\.postgresText).map { $0.map { Array($0.utf8CString) } }
        let result = withPointers(to: texts[...], []) { values in
            PQexecParams(connection, sql, Int32(values.count), nil, values, nil, nil, 0)
        }
        return try rows(of: result)
    }

    public func execute(script: String) throws { _ = try rows(of: PQexec(connection, script)) }

    private func rows(of result: OpaquePointer?) throws -> [[SQLValue]] {
        defer { PQclear(result) }
        return try AsyncPostgresConnection.Cells.text.rows(of: result, connection)
    }
}

public struct PostgresError: Error, CustomStringConvertible {
    /// The server's report, or libpq's where there was none.
    public let server: ServerError
    /// The text that PostgresNIO gives, so that no test finds a reason here.
    public var description: String { "PostgresError" }

    init(message: String) { server = ServerError(message: message) }

    init(of connection: OpaquePointer, _ result: OpaquePointer? = nil) {
        // The fields are characters in C: PG_DIAG_SQLSTATE is 'C'.
        func field(_ letter: Unicode.Scalar) -> String? {
            PQresultErrorField(result, Int32(letter.value)).map { String(cString: $0) }
        }
        server = ServerError(
            message: field("M") ?? String(cString: PQerrorMessage(connection)),
            sqlState: field("C"),
            detail: field("D"),
            hint: field("H")
        )
    }
}

extension SQLValue {
    /// The value as PostgreSQL reads it; `nil` is NULL.
    var postgresText: String? {
        switch self {
        case .null: nil
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .text(let value): value
        case .blob(let bytes): "\\x" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    init(postgresText text: String, type: Oid) {
        // int8, int2, int4; float4, float8
        switch type {
        case 20, 21, 23: self = Int64(text).map { .integer($0) } ?? .text(text)
        case 700, 701: self = Double(text).map { .real($0) } ?? .text(text)
        default: self = .text(text)
        }
    }
}

private func withPointers<Value>(
    to texts: ArraySlice<[CChar]?>,
    _ pointers: [UnsafePointer<CChar>?],
    _ body: ([UnsafePointer<CChar>?]) -> Value
) -> Value {
    guard let first = texts.first else { return body(pointers) }
    guard let first else { return withPointers(to: texts.dropFirst(), pointers + [nil], body) }
    return first.withUnsafeBufferPointer {
        withPointers(to: texts.dropFirst(), pointers + [$0.baseAddress], body)
    }
}
