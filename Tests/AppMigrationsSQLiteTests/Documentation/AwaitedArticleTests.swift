import AppMigrations
import AppMigrationsSQLite
import Testing

@Suite struct AwaitedArticleTests {
    @Test func `the migrator of an awaited connection applies files and closures, as the article says`()
        async throws
    {
        try await withTemporaryFolder { folder async throws in
            let script =
                "CREATE TABLE note(id, title, folded); INSERT INTO note(id, title) VALUES (1, 'ÄB'), (2, NULL)"
            try write(script, to: folder + "/1_notes.sql")
            let db = try SQLiteConnection(path: folder + "/db")
            for _ in 1...2 { try await migrateAwaited(AwaitedConnection(db), folder) }
            #expect(try ledger(of: db) == [1, 41])
            #expect(try db.query("SELECT folded FROM note ORDER BY id") == [["äb"], [nil]])
        }
    }

    @Test func `a closure runs once in the life of the database, also where the state is lost`() async throws
    {
        try await withTemporaryFolder { folder async throws in
            let db = try SQLiteConnection(path: folder + "/db")
            try db.execute(script: "CREATE TABLE note(shared); INSERT INTO note VALUES (1)")
            func start(_ state: String) async throws {
                let migrations = try MigrationManager(
                    currentVersion: "2.0",
                    firstRun: .existingData(at: "1.0"),
                    stateDirectory: folder + state
                )
                try await runOnceAwaited(migrations, AwaitedConnection(db))
            }
            try await start("/host1")
            #expect(try db.query("SELECT shared FROM note") == [[0]])
            try db.query("UPDATE note SET shared = 1")
            for host in ["/host1", "/host2"] { try await start(host) }
            #expect(try db.query("SELECT shared FROM note") == [[1]])
        }
    }
}
