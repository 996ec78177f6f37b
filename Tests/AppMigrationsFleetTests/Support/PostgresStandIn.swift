import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import AppMigrationsSQLite

/// PostgreSQL as far as a fleet's store and transaction ask it, over SQLite; it fails where a test wants it to.
final class PostgresStandIn: AsyncSQLConnection, @unchecked Sendable {
    static var dialect: SQLDialect { .postgres }

    private struct Progress {
        var statements: [String] = []
        var onStatement: @Sendable (String) throws -> Answer = { _ in .works }
        /// The setting that ends with the transaction.
        var mark: SQLValue = ""
        var isClosed = false
        var hanging = 0
        /// The error of a statement that hung.
        var failure = Gone()
    }

    enum Answer: Sendable {
        case works, fails, worksAndFails, gives([[SQLValue]])
        /// Never answers, until the connection is closed.
        case hangs
    }

    struct Gone: Error, CustomStringConvertible {
        var state: String?
        var description: String { "server closed the connection unexpectedly" }
    }

    let path: String
    private let db: SQLiteConnection
    private let progress = Guarded(Progress())
    private let turns = Guarded(())
    private let end = Door()

    init(_ path: String) throws {
        self.path = path
        db = try SQLiteConnection(path: path)
        // No test takes the power away.
        try db.query("PRAGMA synchronous = OFF")
    }

    var statements: [String] { progress.withLock { $0.statements } }
    var isClosed: Bool { progress.withLock { $0.isClosed } }
    /// How many statements hang.
    var hanging: Int { progress.withLock { $0.hanging } }
    var isInTransaction: Bool { get throws { try turns.withLock { _ in try db.isInTransaction } } }

    static func serverError(from error: any Error) -> ServerError? {
        (error as? Gone)?.state.map {
            ServerError(message: "the server says \($0)", sqlState: $0.isEmpty ? nil : $0)
        }
    }

    func onStatement(_ answer: @escaping @Sendable (String) throws -> Answer) {
        progress.withLock { $0.onStatement = answer }
    }

    /// Lets statements that hang fail.
    func fail(_ failure: Gone) {
        progress.withLock { $0.failure = failure }
        end.open()
    }

    nonisolated(nonsending) func close() async {
        progress.withLock { $0.isClosed = true }
        end.open()
        // A server rolls back the transaction of a connection that ends.
        do {
            try turns.withLock { _ in if try db.isInTransaction { try db.query("ROLLBACK") } }
        } catch { return }
    }

    /// Lets a connection that was closed be used again, as a pool does.
    func open() { progress.withLock { $0.isClosed = false } }

    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        let onStatement = progress.withLock { progress in
            progress.statements.append(sql)
            return progress.onStatement
        }
        let answer = try onStatement(sql)
        if case .hangs = answer {
            progress.withLock { $0.hanging += 1 }
            await end.pass()
            throw progress.withLock { progress in
                progress.hanging -= 1
                return progress.failure
            }
        }
        if case .fails = answer { throw Gone() }
        if case .gives(let rows) = answer { return rows }
        let rows = try turns.withLock { _ in try self.answer(sql, arguments) }
        if case .worksAndFails = answer { throw Gone() }
        return rows
    }

    private func answer(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] {
        if try !db.isInTransaction { progress.withLock { $0.mark = "" } }
        if sql.contains("set_config('app_migrations.transaction'") {
            progress.withLock { $0.mark = "open" }
            return [["open"]]
        }
        if sql.hasPrefix("SELECT set_config(") || sql.hasPrefix("SET LOCAL") { return [] }
        if sql.contains("current_setting('app_migrations.transaction'") {
            return [[progress.withLock { $0.mark }]]
        }
        if sql.hasPrefix("SELECT json_object_agg") { return [["{}"]] }
        if sql.contains("pg_locks") { return [] }
        if sql.hasPrefix("DO ") { return try runBlock(sql) }
        if sql.contains("to_regclass") { return [[try columns(of: arguments[0]), .null]] }
        if sql.hasPrefix("SELECT pg_backend_pid()") { return [["7", "127.0.0.1:5432", "1"]] }
        if sql.contains("pg_stat_activity") { return arguments == ["7", "1"] ? [["active", .null]] : [] }
        if sql == "ROLLBACK", try !db.isInTransaction { return [] }
        if sql.hasPrefix("BEGIN") { return try db.query("BEGIN") }
        // SQLite has no words for these, and needs none.
        var own = sql
        for part in [
            " FOR UPDATE SKIP LOCKED", " FOR UPDATE",
            " AND (SELECT relpersistence FROM pg_class WHERE oid = held.tableoid) <> 't'",
            " AND (SELECT set_config('synchronous_commit', 'local', true)"
                + " WHERE current_setting('synchronous_commit') = 'off') IS DISTINCT FROM ''",
        ] { own = own.split(separator: part).joined() }
        own = own.replacing("pg_is_in_recovery()::int", with: "0")
        own = own.replacing("(VALUES ($1::text)) AS wanted(name)", with: "(SELECT $1 AS name) AS wanted")
        return try db.query(own.split(separator: "$").joined(separator: "?"), arguments)
    }

    /// Runs the one statement of a `DO` block that SQLite has too.
    private func runBlock(_ sql: String) throws -> [[SQLValue]] {
        guard let start = sql.firstRange(of: "CREATE TABLE ")?.upperBound,
            let end = sql[start...].firstRange(of: ";")?.lowerBound
        else { throw Gone() }
        return try db.query("CREATE TABLE IF NOT EXISTS \(sql[start..<end].replacing("''", with: "'"))")
    }

    private func columns(of table: SQLValue) throws -> SQLValue {
        guard case .text(let quoted) = table else { return .null }
        let parts = quoted.replacing("\".\"", with: "\"\n\"").split(separator: "\n")
        let names = parts.map { $0.dropFirst().dropLast().replacing("\"\"", with: "\"") }
        let sql = "SELECT group_concat(name, ', ') FROM pragma_table_info(\(names.count == 1 ? "?" : "?, ?"))"
        return try db.query(sql, names.reversed().map { .text(String($0)) })[0][0]
    }
}

/// A store that connects to the database of a file.
func postgresStore(_ path: String, table: String = "app_migration_state") -> PostgresFleetStore<
    PostgresStandIn
> {
    PostgresFleetStore(table: table) { try PostgresStandIn(path) }
}
