import AppMigrationsSQLite
import Foundation

/// A connection whose process dies once so many statements that begin in one way are done.
final class DyingConnection: SQLConnection {
    static var dialect: SQLDialect { .sqlite }

    private let db: SQLiteConnection
    private let statement: String
    private var left: Int

    init(_ db: SQLiteConnection, statement: String, after count: Int = 1) {
        self.db = db
        self.statement = statement
        left = count
    }

    @discardableResult
    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] {
        let rows = try db.query(sql, arguments)
        if sql.hasPrefix(statement) {
            left -= 1
            if left == 0 { kill(getpid(), SIGKILL) }
        }
        return rows
    }

    func execute(script: String) throws { try db.execute(script: script) }
}
