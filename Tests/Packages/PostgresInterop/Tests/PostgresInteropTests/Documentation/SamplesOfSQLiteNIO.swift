#if canImport(SQLiteNIO)
// The sample of "Asynchronous connections" for SQLiteNIO, compiled where that package is.

public import AppMigrationsSQLite
import NIOCore
public import SQLiteNIO

extension SQLiteNIO.SQLiteConnection: @retroactive AsyncSQLConnection {
    @discardableResult
    public nonisolated(nonsending) func query(
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
        return try await query(sql, binds).map { row in
            row.columns.map { column in
                switch column.data {
                case .null: .null
                case .integer(let value): .integer(Int64(value))
                case .float(let value): .real(value)
                case .text(let value): .text(value)
                case .blob(let value): .blob(Array(value.readableBytesView))
                }
            }
        }
    }
}
#endif
