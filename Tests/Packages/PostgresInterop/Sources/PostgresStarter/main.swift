// A process that migrates a PostgreSQL database: <connection> <count>. It prints a line for each migration
// it runs.

import AppMigrationsSQL
import PostgresConnection

do {
    guard CommandLine.arguments.count == 3, let count = Int64(CommandLine.arguments[2]) else {
        throw PostgresStarterError.usage
    }
    let first = SQLMigration<PostgresConnection>(
        version: 1,
        sql: "CREATE TABLE log(x BIGINT); INSERT INTO log VALUES (1)"
    )
    let others = (2...count).map { version in
        SQLMigration<PostgresConnection>(version: version) { db in
            try db.execute(script: "CREATE TABLE t\(version)(x BIGINT); INSERT INTO log VALUES (\(version))")
        }
    }
    let report = try SQLMigrator([first] + others).migrate(PostgresConnection(CommandLine.arguments[1]))
    for version in report.applied { print("applied \(version)") }
} catch {
    print("error: \(error)")
    throw error
}

enum PostgresStarterError: Error {
    case usage
}
