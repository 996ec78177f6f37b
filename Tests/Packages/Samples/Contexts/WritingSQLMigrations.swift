import AppMigrations
import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

/// Also the samples of the first page of AppMigrationsSQLite and of the doc comments of AppMigrationsSQL.
@Suite struct WritingSQLMigrations {
    let calls = Calls()
    func exportAttachments(to folder: String) throws {}
    func showUpdateTheApp() { calls.add("update the app") }
    func foldTitles(of count: Int, after last: Int64, in db: SQLiteConnection) throws -> Int64? { nil }

    func firstPage(folder: String, path: String) throws {
        // Sample 1 of AppMigrationsSQLite.md
    }

    func migrator(folder: String, path: String) throws {
        // Sample 1 of SQLMigrator.swift
    }

    func keyed(
        _ migrations: MigrationManager,
        _ migrator: SQLiteMigrator,
        _ db: SQLiteConnection,
        _ folder: String,
        _ path: String
    ) throws {
        // Sample 2 of AppMigrationsSQLite.md
        // Sample 3 of AppMigrationsSQLite.md
        // Sample 1 of MigrationManager+Batches.swift
    }

    func textsAndClosures(_ folder: String) throws -> SQLiteMigrator {
        // Sample 1 of WritingSQLMigrations.md
        return migrator
    }

    func longWork(_ migrations: MigrationManager, _ db: SQLiteConnection, newest: Int64) throws {
        // Sample 2 of WritingSQLMigrations.md
    }

    func ledgers(_ noteScripts: [String], _ songScripts: [String]) throws -> [SQLiteMigrator] {
        // Sample 3 of WritingSQLMigrations.md
        return [notes, songs]
    }

    func anotherLibrary(_ migrator: SQLiteMigrator, _ db: SQLiteConnection) throws {
        // Sample 4 of WritingSQLMigrations.md
    }

    @Test func `long work goes on behind the batch that was committed`() async throws {
        try await withFolder { folder async throws in
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
            func start() throws {
                let migrations = try manager("2.0", in: folder + "/state")
                try longWork(migrations, db, newest: 1_200)
            }
            #expect(throws: MigrationError.self) { try start() }
            #expect(try progress() == [[500, 500]])
            try db.query("DROP TRIGGER fails")
            for _ in 1...2 { try start() }
            #expect(try progress() == [[1_200, 1_200]])
        }
    }

    @Test func `a numbering in user_version becomes a ledger once, and a newer one asks for the update`()
        throws
    {
        let scripts = ["CREATE TABLE a(x)", "CREATE TABLE b(x)"]
        let migrator = try SQLiteMigrator(SQLiteMigration.numbered(scripts))
        let db = try database("CREATE TABLE a(x); PRAGMA user_version = 1")
        for _ in 1...2 { try anotherLibrary(migrator, db) }
        #expect(try migrator.status(db).applied == [1, 2])
        #expect(calls.take() == [])
        let newer = try database("CREATE TABLE a(x); PRAGMA user_version = 3")
        try anotherLibrary(migrator, newer)
        #expect(try newer.query("SELECT name FROM sqlite_master") == [["a"]])
        #expect(calls.take() == ["update the app"])
    }
}
