import AppMigrationsPostgreSQL
import AppMigrationsSQLite

/// PostgreSQL as far as a fleet's store and transaction ask it, over SQLite; a test acts after each statement.
final class PostgresStandIn: AsyncSQLConnection, @unchecked Sendable {
    static var dialect: SQLDialect { .postgres }

    let db: SQLiteConnection
    private(set) var statements = [String]()
    /// The settings that end with the transaction.
    private var mark: SQLValue = ""
    /// Called before a statement; what `after` throws, the statement has done.
    var before: (String) throws -> Void = { _ in }
    var after: (String) throws -> Void = { _ in }

    init(_ path: String) throws { db = try SQLiteConnection(path: path) }

    @discardableResult
    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        statements.append(sql)
        try before(sql)
        let rows = try answer(sql, arguments)
        try after(sql)
        return rows
    }

    private func answer(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] {
        if try !db.isInTransaction { mark = "" }
        if sql.contains("set_config('app_migrations.transaction'") {
            mark = "open"
            return [[mark]]
        }
        if sql.hasPrefix("SELECT set_config(") { return [] }
        if sql.contains("current_setting('app_migrations.transaction'") { return [[mark]] }
        if sql.contains("relnamespace") { return [] }
        if sql.contains("pg_attribute") {
            return try db.query("SELECT name FROM pragma_table_info('app_migration_state')")
        }
        if sql == "ROLLBACK", try !db.isInTransaction { return [] }
        if sql.hasPrefix("BEGIN") { return try db.query("BEGIN IMMEDIATE") }
        // What SQLite has no words for, and needs none.
        var own = sql
        for part in [
            " FOR UPDATE SKIP LOCKED",
            " AND (SELECT relpersistence FROM pg_class WHERE oid = held.tableoid) <> 't'",
            " AND (SELECT set_config('synchronous_commit', 'local', true)"
                + " WHERE current_setting('synchronous_commit') = 'off') IS DISTINCT FROM ''",
        ] { own = own.split(separator: part).joined() }
        return try db.query(own.split(separator: "$").joined(separator: "?"), arguments)
    }
}
