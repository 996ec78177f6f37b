import AppMigrationsSQL
import CPostgres

extension AsyncPostgresConnection.Cells {
    func rows(of result: OpaquePointer?, _ connection: OpaquePointer) throws -> [[SQLValue]] {
        let status = PQresultStatus(result)
        guard [PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY].contains(status) else {
            throw PostgresError(of: connection, result)
        }
        return try (0..<PQntuples(result)).map { row in
            try (0..<PQnfields(result)).map { column in try value(result, row, column) }
        }
    }

    private func value(_ result: OpaquePointer?, _ row: Int32, _ column: Int32) throws -> SQLValue {
        guard PQgetisnull(result, row, column) == 0 else { return .null }
        let type = PQftype(result, column)
        guard PQfformat(result, column) == 1 else {
            return SQLValue(postgresText: String(cString: PQgetvalue(result, row, column)), type: type)
        }
        let bytes = UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column),
            count: Int(PQgetlength(result, row, column))
        )
        var number: UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        switch (type, bytes.count) {
        // bool, whose byte is 0 or 1; int2, int4, int8
        case (16, 1): return .integer(Int64(number))
        case (21, 2): return .integer(Int64(Int16(truncatingIfNeeded: number)))
        case (23, 4): return .integer(Int64(Int32(truncatingIfNeeded: number)))
        case (20, 8): return .integer(Int64(bitPattern: number))
        // float4, float8
        case (700, 4): return .real(Double(Float(bitPattern: UInt32(number))))
        case (701, 8): return .real(Double(bitPattern: number))
        case (17, _): return .blob(Array(bytes))
        // name, text, unknown, bpchar, varchar
        case (19, _), (25, _), (705, _), (1042, _), (1043, _):
            return .text(String(decoding: bytes, as: UTF8.self))
        default: throw PostgresError(message: "a cell of the type \(type), which this connection can't read")
        }
    }
}

/// The parameters of a statement as libpq takes them.
struct Parameters {
    private var types = [Oid]()
    private var values = [[UInt8]?]()
    private let format: Int32

    init(_ arguments: [SQLValue], cells: AsyncPostgresConnection.Cells) {
        format = cells == .binary ? 1 : 0
        for argument in arguments {
            switch cells {
            case .text:
                types.append(0)
                values.append(argument.postgresText.map { Array($0.utf8) + [0] })
            case .binary:
                let (type, bytes) = argument.postgresBinary
                types.append(type)
                values.append(bytes)
            }
        }
    }

    /// Hands the statement to libpq, which copies it.
    func send(_ sql: String, _ connection: OpaquePointer) -> Bool {
        let buffers = values.map { value in
            value.map { bytes in
                // An empty text needs an address, too: without one it would be NULL.
                let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: max(1, bytes.count))
                for (place, byte) in bytes.enumerated() { buffer[place] = CChar(bitPattern: byte) }
                return buffer
            }
        }
        defer { for buffer in buffers { buffer?.deallocate() } }
        return PQsendQueryParams(
            connection,
            sql,
            Int32(values.count),
            types,
            buffers.map { UnsafePointer($0) },
            values.map { Int32($0?.count ?? 0) },
            values.map { _ in format },
            format
        ) == 1
    }
}

extension SQLValue {
    /// The type and the bytes with which PostgresNIO binds the value.
    fileprivate var postgresBinary: (Oid, [UInt8]?) {
        switch self {
        case .null: (0, nil)
        case .integer(let value): (20, Self.bigEndian(UInt64(bitPattern: value)))
        case .real(let value): (701, Self.bigEndian(value.bitPattern))
        case .text(let value): (25, Array(value.utf8))
        case .blob(let bytes): (17, bytes)
        }
    }

    private static func bigEndian(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }
}
