public import AppMigrationsSQLite
public import GRDB

// The samples of "Asynchronous connections" for GRDB, as they stand there.

func migrate(_ writer: any DatabaseWriter, with migrator: SQLMigrator<Database>) async throws {
    try await writer.writeWithoutTransaction { db in
        _ = try migrator.migrate(db)
    }
}

extension DatabaseQueue: @retroactive AsyncSQLConnection {
    @discardableResult
    public nonisolated(nonsending) func query(
        _ sql: String,
        _ arguments: [SQLValue]
    ) async throws -> [[SQLValue]] {
        try await writeWithoutTransaction { db in
            try db.query(sql, arguments)
        }
    }
}
