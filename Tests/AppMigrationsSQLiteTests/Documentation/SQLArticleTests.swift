import AppMigrations
import AppMigrationsSQLite
import Testing

@Suite struct SQLArticleTests {
    /// Runs samples with a database in a folder, and gives what they called of the app.
    private func called(
        _ body: (_ samples: SQLArticleSamples, _ folder: String, _ db: SQLiteConnection) throws -> Void
    ) throws -> [String] {
        var calls: [String] = []
        try withTemporaryFolder { folder in
            let samples = SQLArticleSamples { calls.append($0) }
            try body(samples, folder, SQLiteConnection(path: folder + "/db"))
        }
        return calls
    }

    private func manager(_ folder: String, at old: String) throws -> MigrationManager {
        _ = try MigrationManager(currentVersion: old, stateDirectory: folder)
        return try MigrationManager(currentVersion: "2.4", stateDirectory: folder)
    }

    @Test func `the landing page's lines apply what is in the folder, once`() throws {
        _ = try called { samples, folder, db in
            try write("CREATE TABLE note(x); INSERT INTO note VALUES (1)", to: folder + "/1_notes.sql")
            for _ in 1...2 { try samples.landingPage(folder: folder, path: folder + "/db") }
            #expect(try db.query("SELECT x FROM note") == [[1]])
        }
    }

    @Test func `keyed by the app's version, the schema waits for what comes before it`() throws {
        let calls = try called { samples, folder, db in
            try db.execute(script: "CREATE TABLE account(balance); INSERT INTO account VALUES (7)")
            let migrator = try Migrator([
                Migration(version: 17, sql: "CREATE TABLE a(x)"),
                Migration(version: 18, sql: "CREATE TABLE b(x)"),
            ])
            for _ in 1...2 {
                let migrations = try manager(folder + "/state", at: "2.1")
                try samples.whenToCall(migrator, migrations, db, path: folder + "/db", folder: folder)
                // The database knows that the balance was multiplied, also where the state is lost.
                try migrations.forgetState()
            }
            #expect(try ledger(of: db) == [17])
            #expect(try db.query("SELECT balance FROM account") == [[700]])
        }
        #expect(calls == ["export", "export"])
    }

    @Test func `a process that waits for another says so`() throws {
        try withTemporaryFolder { folder in
            let other = try SQLiteConnection(path: folder + "/db")
            try other.query("BEGIN IMMEDIATE")
            var calls: [String] = []
            var failure: (any Error)?
            let samples = SQLArticleSamples { call in
                calls.append(call)
                do { try other.query("COMMIT") } catch { failure = error }
            }
            let db = try SQLiteConnection(path: folder + "/db")
            try samples.waiting(Migrator([Migration(version: 1, sql: "CREATE TABLE a(x)")]), db)
            #expect(calls == ["another process migrates the database"])
            #expect(failure == nil)
            #expect(try ledger(of: db) == [1])
        }
    }

    @Test func `files, texts and closures are one list`() throws {
        _ = try called { _, folder, db in
            let script =
                "CREATE TABLE note(id, title, date, folded); INSERT INTO note(id, title) VALUES (1, 'ÄB'), (2, NULL)"
            try write(script, to: folder + "/1_notes.sql")
            try textsAndClosures(folder: folder).migrate(db)
            #expect(try ledger(of: db) == [1, 40, 41])
            #expect(try db.query("SELECT folded FROM note ORDER BY id") == [["äb"], [nil]])
            #expect(
                try db.query("SELECT name FROM sqlite_master WHERE type = 'index'").contains(["note_date"])
            )
        }
    }

    @Test(arguments: [false, true])
    func `long work goes on behind the batch that was committed`(isShort: Bool) throws {
        _ = try called { _, folder, db in
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
            func work(at old: String) throws {
                let migrations = try manager(folder + "/state", at: old)
                if isShort {
                    try foldingTitles(migrations, db)
                } else {
                    try longWork(migrations, db, newest: 1_200)
                }
            }
            #expect(throws: MigrationError.self) { try work(at: "1.0") }
            #expect(try progress() == [[500, 500]])
            try db.query("DROP TRIGGER fails")
            for _ in 1...2 { try work(at: "2.4") }
            #expect(try progress() == [[1_200, 1_200]])
        }
    }

    @Test func `two modules keep a ledger each`() throws {
        _ = try called { samples, _, db in
            let migrators = try samples.oneLedgerOneOwner(
                noteScripts: ["CREATE TABLE note(x)"],
                songScripts: ["CREATE TABLE song(x)", "CREATE TABLE album(x)"]
            )
            for migrator in migrators { try migrator.migrate(db) }
            #expect(try db.query("SELECT version FROM note_migrations") == [[1]])
            #expect(try db.query("SELECT version FROM song_migrations ORDER BY version") == [[1], [2]])
            let songs = try #require(migrators.last)
            #expect(try songs.status(db).unknown == [])
        }
    }

    @Test func `a numbering in user_version becomes a ledger once`() throws {
        _ = try called { samples, _, db in
            try db.execute(script: "CREATE TABLE a(x); PRAGMA user_version = 1")
            let migrator = try Migrator(Migration.numbered(["CREATE TABLE a(x)", "CREATE TABLE b(x)"]))
            for _ in 1...2 { try samples.anotherLibrary(migrator, db) }
            #expect(try ledger(of: db) == [1, 2])
            #expect(try tables(in: db) == ["a", "b"])
        }
    }

    @Test func `a numbering of a newer release asks for the update, and stays as it is`() throws {
        let calls = try called { samples, _, db in
            try db.execute(script: "CREATE TABLE a(x); PRAGMA user_version = 2")
            try samples.anotherLibrary(Migrator(Migration.numbered(["CREATE TABLE a(x)"])), db)
            #expect(try db.query("SELECT name FROM sqlite_master") == [["a"]])
        }
        #expect(calls == ["update the app"])
    }

    @Test func `the number of sModel is found in either place`() throws {
        let scripts = ["CREATE TABLE a(x)", "CREATE TABLE b(x)", "CREATE TABLE c(x)"]
        let migrator = try Migrator(Migration.numbered(scripts))
        let older = "\(scripts[0]); \(scripts[1]); PRAGMA user_version = 2"
        let newer = """
            \(scripts[0]); \(scripts[1]); PRAGMA user_version = 1002;
            CREATE TABLE "_sModel_DBDefTracker" (
                "namespace" TEXT PRIMARY KEY, "version" INTEGER, "lastUpdated" REAL, lastHash TEXT
            );
            INSERT INTO "_sModel_DBDefTracker" VALUES ('', 2, 0, ''), ('songs', 7, 0, '')
            """
        for (left, songs) in [(older, Int64(0)), (newer, 7)] {
            let db = try memory()
            try db.execute(script: left)
            #expect(try numberOfSModel(in: db, namespace: "songs") == songs)
            #expect(try numberOfSModel(in: db, namespace: "others") == 0)
            for _ in 1...2 { try takingOverSModel(migrator, db) }
            #expect(try ledger(of: db) == [1, 2, 3])
        }
        let db = try memory()
        try takingOverSModel(migrator, db)
        #expect(try tables(in: db) == ["a", "b", "c"])
    }

    @Test func `a module that is new beside the ledger of FMDBMigrationManager has its own`() throws {
        let left = """
            CREATE TABLE old(x);
            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
            INSERT INTO schema_migrations VALUES (1), (2)
            """
        let scripts = Migration.numbered(["CREATE TABLE a(x)", "CREATE TABLE b(x)"])
        let db = try memory()
        try db.execute(script: left)
        #expect(try Migrator(scripts).migrate(db).description == "Nothing was pending.")
        #expect(try tables(in: db) == ["old"])
        #expect(try Migrator(scripts, ledger: "module").migrate(db).applied == [1, 2])
        let edited = Migration.numbered(["CREATE TABLE old(x)", "CREATE TABLE b(y)", "CREATE TABLE c(x)"])
        #expect(try Migrator(edited).migrate(db).applied == [3])
        #expect(try Migrator(edited).status(db).changed == [])
    }

    @Test func `an error in a task has its code where its type is written`() async throws {
        let db = try memory()
        let migrator = try Migrator(Migration.numbered(["CREATE TABLE a(x)"]))
        let task = Task { () -> SQLError.Code? in
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(SQLError) {
                try migrator.migrate(db)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await task.value == .cancelled)
    }

    @Test func `each error has its screen, and is logged`() throws {
        let broken = try called { samples, _, db in
            try samples.readingAnError(Migrator([Migration(version: 1, sql: "CREATE")]), db)
        }
        #expect(broken.count == 2 && broken.last == "recovery")
        let busy = try called { samples, folder, db in
            let other = try SQLiteConnection(path: folder + "/db")
            try other.query("BEGIN IMMEDIATE")
            let migrations = [Migration(version: 1, sql: "CREATE TABLE a(x)")]
            try samples.readingAnError(Migrator(migrations, lockTimeout: .milliseconds(20)), db)
        }
        #expect(busy.count == 2 && busy.last == "try again")
        let full = try called { samples, _, db in
            try db.query("PRAGMA max_page_count = 3")
            let sql = "CREATE TABLE a(x); INSERT INTO a VALUES (zeroblob(99999))"
            try samples.readingAnError(Migrator([Migration(version: 1, sql: sql)]), db)
        }
        #expect(full.count == 2 && full.last == "free space")
    }

    @Test func `a database of a newer release is told from one of this release`() throws {
        let calls = try called { samples, _, db in
            let scripts = ["CREATE TABLE a(x)", "CREATE TABLE b(x)"]
            let older = try Migrator(Migration.numbered([scripts[0]]))
            try older.migrate(db)
            try samples.newerDatabase(older, db)
            samples.call("the newer release migrates")
            try Migrator(Migration.numbered(scripts)).migrate(db)
            try samples.newerDatabase(older, db)
        }
        #expect(calls == ["the newer release migrates", "update the app"])
    }
}
