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

    @Test func `batches go on behind the last one that was committed, also for another host`() async throws {
        try await withTemporaryFolder { folder async throws in
            let db = try SQLiteConnection(path: folder + "/db")
            try db.execute(
                script: """
                    CREATE TABLE note(id INTEGER PRIMARY KEY, title, folded, writes DEFAULT 0);
                    CREATE TRIGGER counts AFTER UPDATE OF folded ON note
                    BEGIN UPDATE note SET writes = writes + 1 WHERE id = new.id; END;
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
                    INSERT INTO note(id, title) SELECT i, 'N' || i FROM n;
                    CREATE TRIGGER fails BEFORE UPDATE OF folded ON note WHEN new.id = 700
                    BEGIN SELECT RAISE(ABORT, 'full'); END;
                    """
            )
            let progress = { try db.query("SELECT count(*), sum(writes) FROM note WHERE folded = 'n' || id") }
            func start(_ host: String) async throws {
                let migrations = try MigrationManager(
                    currentVersion: "2.1",
                    firstRun: .existingData(at: "2.0"),
                    stateDirectory: folder + host
                )
                try await runInBatchesAwaited(migrations, AwaitedConnection(db))
            }
            await #expect(throws: MigrationError.self) { try await start("/host1") }
            #expect(try progress() == [[500, 500]])
            try db.query("DROP TRIGGER fails")
            for host in ["/host2", "/host1", "/host2"] { try await start(host) }
            #expect(try progress() == [[1_200, 1_200]])
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
