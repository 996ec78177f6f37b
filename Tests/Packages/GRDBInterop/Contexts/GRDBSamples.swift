public import AppMigrationsSQLite
import Foundation
public import GRDB

// Sample 1 of SQLConnection.md

func migrate(_ queue: DatabaseQueue, with migrator: SQLMigrator<Database>) throws {
    // Sample 2 of SQLConnection.md
}

func migrate(_ writer: any DatabaseWriter, with migrator: SQLMigrator<Database>) async throws {
    // Sample 4 of AsynchronousConnections.md
}

// Sample 2 of AsyncSQLConnection.md

/// GRDB's connection with GRDB's own way to run a script, which refuses nothing.
struct PlainDatabase: SQLConnection {
    static var dialect: SQLDialect { .sqlite }

    let db: Database

    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] { try db.query(sql, arguments) }
    func execute(script: String) throws { try db.execute(sql: script) }
}
