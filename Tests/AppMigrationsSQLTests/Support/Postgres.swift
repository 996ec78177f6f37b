import AppMigrationsSQL

/// A server without a ledger, which answers every statement with no rows.
final class Postgres: SQLConnection {
    static var dialect: SQLDialect { .postgres }

    private(set) var statements = [String]()

    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] {
        statements.append(sql)
        return []
    }

    func execute(script: String) throws { statements.append(script) }
}

/// A `Postgres` that is awaited; a test acts before the statements.
final class AwaitedPostgres: AsyncSQLConnection {
    static var dialect: SQLDialect { .postgres }

    private(set) var statements = [String]()
    private let before: (String) throws -> Void

    init(before: @escaping (String) throws -> Void = { _ in }) { self.before = before }

    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        statements.append(sql)
        try before(sql)
        return sql.hasPrefix("SELECT current_setting") ? [[""]] : []
    }
}
