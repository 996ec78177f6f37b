#if canImport(PostgresNIO)
// The samples of "Asynchronous connections" for PostgresNIO, compiled where that package is.

import AppMigrations
import AppMigrationsSQL
import Logging
import NIOCore
import PostgresNIO

struct MigrationConnection: AsyncSQLConnection {
    static var dialect: SQLDialect { .postgres }

    let connection: PostgresConnection

    @discardableResult
    nonisolated(nonsending) func query(
        _ sql: String,
        _ arguments: [SQLValue]
    ) async throws -> [[SQLValue]] {
        var bindings = PostgresBindings()
        for argument in arguments {
            switch argument {
            case .null: bindings.appendNull()
            case .integer(let value): bindings.append(value)
            case .real(let value): bindings.append(value)
            case .text(let value): bindings.append(value)
            case .blob(let value):
                bindings.append(ByteBuffer(bytes: value))
            }
        }
        let query = PostgresQuery(unsafeSQL: sql, binds: bindings)
        var values = [[SQLValue]]()
        let logger = Logger(label: "migrations")
        let rows = try await connection.query(query, logger: logger)
        for try await row in rows {
            values.append(try row.map { try $0.sqlValue() })
        }
        return values
    }
}

extension PostgresCell {
    /// The cells come in binary: a boolean is one byte.
    fileprivate func sqlValue() throws -> SQLValue {
        guard let bytes else { return .null }
        switch dataType {
        case .int2, .int4, .int8:
            return .integer(try decode(Int64.self))
        case .float4, .float8: return .real(try decode(Double.self))
        case .bool: return .integer(try decode(Bool.self) ? 1 : 0)
        case .bytea: return .blob(Array(bytes.readableBytesView))
        default: return .text(try decode(String.self))
        }
    }
}

func migrate(_ client: PostgresClient, _ folder: String) async throws {
    let migrator = try SQLMigrator<MigrationConnection>(
        SQLMigration.files(in: folder)
    )
    try await client.withConnection {
        _ = try await migrator.migrate(
            MigrationConnection(connection: $0)
        )
    }
}
#endif
