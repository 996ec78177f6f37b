import AppMigrations
import AppMigrationsSQL

// The samples of "Asynchronous connections" that name no library, as they stand there.

func migrateAwaited(_ connection: AwaitedConnection, _ folder: String) async throws {
    let migrator = try SQLMigrator<AwaitedConnection>(
        SQLMigration.files(in: folder) + [
            SQLMigration(version: 41, name: "fold_titles") { db in
                let sql = "SELECT id, title FROM note"
                let rows = try await db.query(sql)
                for row in rows {
                    guard case .text(let title) = row[1] else {
                        continue
                    }
                    try await db.query(
                        "UPDATE note SET folded = $1 WHERE id = $2",
                        [SQLValue(title.lowercased()), row[0]]
                    )
                }
            }
        ]
    )
    try await migrator.migrate(
        connection,
        waiting: { print("another host migrates") }
    )
}

func runOnceAwaited(_ migrations: MigrationManager, _ connection: AwaitedConnection) async throws {
    try await migrations.whenMigrating(
        toVersion: "2.0",
        in: connection
    ) { db in
        try await db.query("UPDATE note SET shared = false")
    }
}

func runInBatchesAwaited(_ migrations: MigrationManager, _ connection: AwaitedConnection) async throws {
    try await migrations.whenMigrating(
        toVersion: "2.1",
        in: connection
    ) { db, batch, _ in
        let last = try batch.cursor(as: Int64.self) ?? 0
        let next = try await db.query(
            """
            SELECT max(id) FROM (
                SELECT id FROM note WHERE id > $1
                ORDER BY id LIMIT 500
            ) AS next
            """,
            [SQLValue(last)]
        )
        guard case .integer(let end) = next[0][0] else { return .done }
        try await db.query(
            """
            UPDATE note SET folded = lower(title)
            WHERE id > $1 AND id <= $2
            """,
            [SQLValue(last), SQLValue(end)]
        )
        return .continue(at: end)
    }
}
