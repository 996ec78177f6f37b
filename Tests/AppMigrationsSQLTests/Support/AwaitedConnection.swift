import AppMigrationsSQLite

/// An SQLite connection whose statements are awaited, one at a time; a test acts before them.
final class AwaitedConnection: AsyncSQLConnection {
    static var dialect: SQLDialect { .sqlite }

    let db: SQLiteConnection
    let before: (String) throws -> Void
    private(set) var isClosed = false

    init(_ db: SQLiteConnection, before: @escaping (String) throws -> Void = { _ in }) {
        self.db = db
        self.before = before
    }

    func close() async { isClosed = true }

    static func serverError(from error: any Error) -> ServerError? {
        error is Hidden ? ServerError(message: "the server says why") : nil
    }

    /// An error of the server whose description doesn't tell what it is.
    struct Hidden: Error {}

    @discardableResult
    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        try before(sql)
        await Task.yield()
        return try db.query(sql, arguments)
    }
}

typealias AwaitedMigration = SQLMigration<AwaitedConnection>
typealias AwaitedMigrator = SQLMigrator<AwaitedConnection>

/// The error that `body` throws.
nonisolated(nonsending) func sqlError<Value>(
    _ body: nonisolated(nonsending) () async throws(SQLError) -> Value
) async -> SQLError? {
    do throws(SQLError) {
        _ = try await body()
        return nil
    } catch { return error }
}
