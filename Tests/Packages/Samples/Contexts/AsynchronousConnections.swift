import AppMigrations
import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

#if canImport(SQLiteNIO)
import NIOCore
import SQLiteNIO
#endif

@Suite struct AsynchronousConnections {
    func migrate(_ connection: AwaitedConnection, _ folder: String) async throws {
        // Sample 1 of AsynchronousConnections.md
    }

    func once(
        _ migrations: MigrationManager,
        _ connect: nonisolated(nonsending) () async throws -> AwaitedConnection
    ) async throws {
        // Sample 2 of AsynchronousConnections.md
    }

    @Test func `files and closures are applied once, also by another host`() async throws {
        try await withFolder { folder async throws in
            let script = """
                CREATE TABLE note(id INTEGER PRIMARY KEY, title, folded, shared DEFAULT 1);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
                INSERT INTO note(id, title) SELECT i, 'N' || i FROM n;
                """
            try write(script, to: folder + "/1_notes.sql")
            let db = try SQLiteConnection(path: folder + "/db")
            for _ in 1...2 { try await migrate(AwaitedConnection(db), folder) }
            #expect(try db.query("SELECT count(*) FROM note WHERE folded = 'n' || id") == [[1_200]])
            func start(_ host: String) async throws {
                let migrations = try MigrationManager(
                    currentVersion: "2.1",
                    firstRun: .existingData(at: "1.0"),
                    stateDirectory: folder + host
                )
                try await once(migrations) { AwaitedConnection(db) }
            }
            try await start("/host1")
            try db.query("UPDATE note SET shared = 1")
            for host in ["/host2", "/host1"] { try await start(host) }
            #expect(try db.query("SELECT DISTINCT shared FROM note") == [[1]])
        }
    }
}

// Several hosts has this type for PostgresNIO.
private typealias MigrationConnection = AwaitedConnection

private func migrate(_ folder: String, connect: () async throws -> MigrationConnection) async throws {
    // Sample 3 of AsynchronousConnections.md
}

// The package of this one isn't fetched here. Where it is, the sample has a file of its own.

#if canImport(SQLiteNIO)
// Sample 1 of AsyncSQLConnection.md
#endif
