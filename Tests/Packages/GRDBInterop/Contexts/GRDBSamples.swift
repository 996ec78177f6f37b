public import AppMigrationsSQLite
import Foundation
public import GRDB

// Sample 5 of WritingSQLMigrations.md

func migrate(_ queue: DatabaseQueue, with migrator: SQLMigrator<Database>) throws {
    // Sample 6 of WritingSQLMigrations.md
}

func migrate(_ writer: any DatabaseWriter, with migrator: SQLMigrator<Database>) async throws {
    // Sample 7 of AsynchronousConnections.md
}

// Sample 8 of AsynchronousConnections.md

/// GRDB's connection with GRDB's own way to run a script, which refuses nothing.
struct PlainDatabase: SQLConnection {
    let db: Database

    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] { try db.query(sql, arguments) }
    func execute(script: String) throws { try db.execute(sql: script) }
}
