import AppMigrationsSQL
import PostgresConnection
import Testing

@testable import LibpqConnection

/// The connection of libpq of the guide *Asynchronous connections*.
@Suite(.timeLimit(.minutes(1))) struct LibpqConnectionTests {
    private func withLibpq(_ body: (LibpqConnection, _ info: String) async throws -> Void) async throws {
        try await withDatabase { info async throws in
            let db = try await LibpqConnection.connect(info)
            try await body(db, info)
            await db.close()
        }
    }

    @Test func `it migrates, and returns every kind of value as the server reads it`() async throws {
        try await withLibpq { db, _ in
            let table = "CREATE TABLE notes (title TEXT, size INT, ratio FLOAT8, data BYTEA)"
            let migrator = try SQLMigrator<LibpqConnection>([
                SQLMigration(version: 1, sql: table),
                SQLMigration(version: 2, name: "notes") { db, _ in
                    try await db.query(
                        "INSERT INTO notes VALUES ($1, $2, $3, $4), (NULL, NULL, NULL, NULL)",
                        ["ü", 7, 0.5, .blob([0, 171])]
                    )
                },
            ])
            for _ in 1...2 { try await migrator.migrate(db) }
            #expect(try await migrator.status(db).applied == [1, 2])
            let rows = try await db.query("SELECT * FROM notes ORDER BY title")
            #expect(rows == [["ü", "7", "0.5", "\\x00ab"], [.null, .null, .null, .null]])
            await #expect(throws: SQLValue.ZeroByte.self) { try await db.query("SELECT $1", ["a\0b"]) }
        }
    }

    @Test func `an error has the server's message and SQLSTATE`() async throws {
        try await withLibpq { db, info in
            let migrator = try SQLMigrator<LibpqConnection>([SQLMigration(version: 1, sql: "SELECT 1 / 0")])
            let error = await #expect(throws: SQLError.self) { try await migrator.migrate(db) }
            #expect(error?.sqlState == "22012")
            #expect(error?.message.hasPrefix("division by zero.") == true)
            await #expect(throws: LibpqError.self) { try await LibpqConnection.connect("\(info)_missing") }
        }
    }

    @Test func `closing ends a running statement, and each later one fails`() async throws {
        try await withLibpq { db, info in
            let console = try PostgresConnection(info)
            let process = try await db.query("SELECT pg_backend_pid()")[0][0]
            let statement = Task { try await db.query("SELECT pg_sleep(3600)::text") }
            let state = "SELECT state FROM pg_stat_activity WHERE pid = $1::int AND query LIKE '%pg_sleep%'"
            while try console.query(state, [process]) != [["active"]] {}
            await db.close()
            await db.close()
            let error = await #expect(throws: LibpqError.self) { try await statement.value }
            #expect(error?.server.sqlState == nil)
            let later = await #expect(throws: LibpqError.self) { try await db.query("SELECT 1") }
            #expect(later?.description == "It is closed")
        }
    }

    /// A pool of threads that blocked for each statement would have too few of them.
    @Test func `statements that wait for locks let other connections work`() async throws {
        try await withLibpq { db, info in
            try await db.query("SELECT pg_advisory_lock(1)::text")
            let waiting = (1...20).map { _ in
                Task {
                    let other = try await LibpqConnection.connect(info)
                    try await other.query("SELECT pg_advisory_lock_shared(1)::text")
                    await other.close()
                }
            }
            let waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            while try await db.query(waits) != [["20"]] {}
            try await db.query("SELECT pg_advisory_unlock(1)::text")
            for task in waiting { try await task.value }
        }
    }
}
