#if canImport(PostgresNIO)
import AppMigrationsSQL
import Logging
import NIOCore
import PostgresNIO

struct MigrationConnection: AsyncSQLConnection, Sendable {
    struct Closed: Error {}
    static var dialect: SQLDialect { .postgres }
    let db: PostgresConnection

    @discardableResult nonisolated(nonsending) func query(
        _ sql: String,
        _ arguments: [SQLValue]
    ) async throws -> [[SQLValue]] {
        var call = PostgresQuery(unsafeSQL: sql)
        for argument in arguments {
            switch argument {
            case .null: call.binds.appendNull()
            case .integer(let value): call.binds.append(value)
            case .real(let value): call.binds.append(value)
            case .text(let value): call.binds.append(value)
            case .blob(let value):
                call.binds.append(ByteBuffer(bytes: value))
            }
        }
        // A closed connection never answers. Ask on its own thread.
        return try await db.eventLoop.submit { [call] in
            if db.isClosed { throw Closed() }
            return db.query(call, logger: db.logger)
        }.get().get().map { try $0.map { try $0.sqlValue() } }
    }

    static func serverError(from error: any Error) -> ServerError? {
        if error is Closed { return .init(message: "It is closed") }
        guard let error = error as? PSQLError else { return nil }
        let (said, cause) = (error.serverInfo, error.underlying)
        return ServerError(
            message: said?[.message]
                ?? cause.map { "\($0)" } ?? "\(error.code)",
            sqlState: said?[.sqlState],
            detail: said?[.detail],
            hint: said?[.hint]
        )
    }

    func close() async { do { try await db.close() } catch {} }
}

extension PostgresCell {
    /// Cells are binary: as a text, a `numeric` is garbage.
    fileprivate func sqlValue() throws -> SQLValue {
        guard let bytes else { return .null }
        return switch dataType {
        case .int2, .int4, .int8: .integer(try decode(Int64.self))
        case .float4, .float8: .real(try decode(Double.self))
        case .bool: .integer(try decode(Bool.self) ? 1 : 0)
        case .text, .varchar, .bpchar, .name, .json, .jsonb:
            .text(try decode(String.self))
        default: .blob(Array(bytes.readableBytesView))
        }
    }
}

/// Connects next to the app's own pool.
///
/// The id is for logs only.
func connect() async throws -> MigrationConnection {
    var own = configuration
    if let name = TestDatabase.name { own.database = name }
    let db = try await PostgresConnection.connect(
        configuration: own,
        id: 1,
        logger: Logger(label: "migrations")
    )
    return MigrationConnection(db: db)
}

enum TestDatabase {
    /// The database that a test has created for itself.
    @TaskLocal static var name: String?
}
#endif
