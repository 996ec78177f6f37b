// A process that migrates a PostgreSQL database: <connection> <count> [awaited <cells>]. It prints a line for each migration
// it runs; with `awaited` an asynchronous connection runs scripts of several statements, and the last one outside of a
// transaction.

import AppMigrationsSQL
import PostgresConnection

func script(_ version: Int64) -> String {
    """
    CREATE TABLE t\(version)(x BIGINT); -- it's one; of several
    CREATE FUNCTION f\(version)() RETURNS BIGINT BEGIN ATOMIC SELECT CASE WHEN true THEN \(version) END; END;
    INSERT INTO log SELECT f\(version)();
    DO $do$ BEGIN INSERT INTO t\(version) VALUES (\(version)); END $do$
    """
}

func migrate(_ info: String, _ count: Int64) throws -> [Int64] {
    let first = SQLMigration<PostgresConnection>(
        version: 1,
        sql: "CREATE TABLE log(x BIGINT); INSERT INTO log VALUES (1)"
    )
    let others = (2...count).map { version in
        SQLMigration<PostgresConnection>(version: version) { db, _ in
            try db.execute(script: "CREATE TABLE t\(version)(x BIGINT); INSERT INTO log VALUES (\(version))")
        }
    }
    return try SQLMigrator([first] + others).migrate(PostgresConnection(info)).applied
}

func migrateAwaited(_ info: String, _ count: Int64, _ cells: AsyncPostgresConnection.Cells) async throws
    -> [Int64]
{
    typealias Migration = SQLMigration<AsyncPostgresConnection>
    let first = Migration(version: 1, sql: "CREATE TABLE log(x BIGINT); INSERT INTO log VALUES (1)")
    let scripts = (2..<(count - 1)).map { Migration(version: $0, sql: script($0)) }
    let closure = Migration(version: count - 1) { db, _ in
        try await db.query("INSERT INTO log VALUES ($1)", [.integer(count - 1)])
    }
    let index = Migration(
        version: count,
        sql: "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS log_x ON log(x)",
        inTransaction: false
    )
    let migrator = try SQLMigrator([first] + scripts + [closure, index])
    return try await migrator.migrate(AsyncPostgresConnection(info, cells: cells)).applied
}

do {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 || arguments.count == 5, let count = Int64(arguments[2]) else {
        throw PostgresStarterError.usage
    }
    let applied =
        arguments.count == 3
        ? try migrate(arguments[1], count)
        : try await migrateAwaited(arguments[1], count, arguments[4] == "binary" ? .binary : .text)
    for version in applied { print("applied \(version)") }
} catch {
    print("error: \(error)")
    throw error
}

enum PostgresStarterError: Error {
    case usage
}
