import AppMigrations
import AppMigrationsSQL
import AppMigrationsSQLite

/// A connection to SQLite whose statements are awaited, one at a time; it fails where a test wants it to.
final class AsyncSQLite: AsyncSQLConnection, @unchecked Sendable {
    static var dialect: SQLDialect { .sqlite }

    private struct Progress {
        var statements: [String] = []
        var onStatement: @Sendable (String) -> Answer = { _ in .works }
    }

    enum Answer: Sendable { case works, fails, worksAndFails }

    struct Gone: Error, CustomStringConvertible {
        var description: String { "server closed the connection unexpectedly" }
    }

    private let db: SQLiteConnection
    private let progress = Guarded(Progress())
    private let turns = Guarded(())

    init(_ path: String) throws { db = try SQLiteConnection(path: path) }

    var statements: [String] { progress.withLock { $0.statements } }

    func onStatement(_ answer: @escaping @Sendable (String) -> Answer) {
        progress.withLock { $0.onStatement = answer }
    }

    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        let answer = progress.withLock { progress in
            progress.statements.append(sql)
            return progress.onStatement(sql)
        }
        if case .fails = answer { throw Gone() }
        let rows = try turns.withLock { _ in try db.query(sql, arguments) }
        if case .worksAndFails = answer { throw Gone() }
        return rows
    }
}
