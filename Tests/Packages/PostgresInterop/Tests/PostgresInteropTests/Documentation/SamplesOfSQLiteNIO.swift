#if canImport(SQLiteNIO)
// The sample of "Asynchronous connections" for SQLiteNIO, compiled where that package is.

import AppMigrationsSQLite
import NIOCore
import SQLiteNIO

struct MigrationConnection: AsyncSQLConnection {
    let connection: SQLiteNIO.SQLiteConnection

    @discardableResult
    nonisolated(nonsending) func query(
        _ sql: String,
        _ arguments: [SQLValue]
    ) async throws -> [[SQLValue]] {
        let binds = arguments.map { value -> SQLiteData in
            switch value {
            case .null: .null
            case .integer(let value): .integer(Int(value))
            case .real(let value): .float(value)
            case .text(let value): .text(value)
            case .blob(let value): .blob(ByteBuffer(bytes: value))
            }
        }
        return try await connection.query(sql, binds).map { row in
            row.columns.map { column in
                switch column.data {
                case .null: .null
                case .integer(let value): .integer(Int64(value))
                case .float(let value): .real(value)
                case .text(let value): .text(value)
                case .blob(let value):
                    .blob(Array(value.readableBytesView))
                }
            }
        }
    }
}
#endif
