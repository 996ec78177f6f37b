public import AppMigrationsSQL
import CPostgres

/// A connection of libpq that never blocks a thread: what an asynchronous library for PostgreSQL is.
///
/// Tasks that use it at once wait for their turn, statement by statement. It is as hard to use as PostgresNIO: two of them can't be
/// told apart, an error's text says nothing, and on a closed connection no statement is ever answered.
public struct AsyncPostgresConnection: AsyncSQLConnection, Sendable {
    public static var dialect: SQLDialect { .postgres }

    /// How the values of a row and of the parameters are written on the wire.
    public enum Cells: Sendable {
        case text
        /// As PostgresNIO asks for them: numbers and booleans as their bytes, and each parameter with its type.
        case binary
    }

    private let handle: PostgresHandle
    private let cells: Cells
    private let turns = Turns()

    public init(_ info: String, cells: Cells = .text) async throws {
        handle = try await PostgresHandle(info)
        self.cells = cells
    }

    public static func serverError(from error: any Error) -> ServerError? {
        (error as? PostgresError)?.server
    }

    public nonisolated(nonsending) func close() async { handle.close() }

    @discardableResult
    public nonisolated(nonsending) func query(
        _ sql: String,
        _ arguments: [SQLValue]
    ) async throws -> [[SQLValue]] {
        await turns.take()
        guard handle.isOpen else {
            turns.pass()
            try await untilCancelled()
        }
        defer { turns.pass() }
        let parameters = Parameters(arguments, cells: cells)
        // The ROLLBACK of a task that is cancelled must run, so that only a statement that runs by then is cancelled.
        guard !Task.isCancelled else { return try await run(sql, parameters) }
        let cancellation = PostgresCancellation(handle.connection)
        do {
            let rows = try await withTaskCancellationHandler {
                try await run(sql, parameters)
            } onCancel: {
                cancellation.send()
            }
            await cancellation.finish()
            return rows
        } catch {
            // A cancellation must not meet the next statement.
            await cancellation.finish()
            if (error as? PostgresError)?.server.sqlState == "57014", Task.isCancelled {
                throw CancellationError()
            }
            throw error
        }
    }

    private nonisolated(nonsending) func untilCancelled() async throws -> Never {
        let (silence, end) = AsyncStream<Void>.makeStream()
        for await _ in silence {}
        end.finish()
        throw CancellationError()
    }

    private nonisolated(nonsending) func run(_ sql: String, _ parameters: Parameters) async throws
        -> [[SQLValue]]
    {
        let connection = handle.connection
        guard parameters.send(sql, connection) else { throw PostgresError(of: connection) }
        while case let rest = PQflush(connection), rest != 0 {
            guard rest > 0 else { throw PostgresError(of: connection) }
            await handle.wait(for: .writing)
        }
        var rows = [[SQLValue]]()
        var failure: (any Error)?
        while true {
            while PQisBusy(connection) == 1 {
                await handle.wait(for: .reading)
                guard PQconsumeInput(connection) == 1 else { throw PostgresError(of: connection) }
            }
            guard let result = PQgetResult(connection) else { break }
            defer { PQclear(result) }
            do {
                rows = try cells.rows(of: result, connection)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        guard PQstatus(connection) == CONNECTION_OK else { throw PostgresError(of: connection) }
        return rows
    }
}
