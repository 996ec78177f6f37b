import AppMigrations
import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation
import Testing

@Suite struct DamagedDatabase {
    let calls = Calls()
    func report(_ error: SQLError?, _ path: String) { calls.add(path) }

    func opening(_ path: String, _ migrations: MigrationManager) throws -> SQLiteConnection {
        // Sample 2 of TheDatabaseFile.md
        return db
    }

    func checking(_ store: SQLiteStore, _ schema: String) throws {
        let status = try store.status(target: schema, check: .quick)
        if case .damaged(let error) = status {
            let aside = try store.setAside(check: .quick)
            report(error, aside.path)
        }
    }

    func report(_ problem: SQLiteStore.VirtualTableProblem) { calls.add(problem.table) }

    func reporting(_ store: SQLiteStore) throws -> SQLiteConnection {
        let restore = { (aside: SQLiteStore.SetAside) throws -> Void in calls.add(aside.path) }
        // Sample 3 of TheDatabaseFile.md
        return db
    }

    func recreateNotesIndex(in db: SQLiteConnection) throws {
        let statements = [
            "PRAGMA writable_schema = ON",
            "DELETE FROM sqlite_master WHERE name = 'notes_index'",
            "PRAGMA writable_schema = RESET",
            "DROP TABLE IF EXISTS notes_index_data",
            "DROP TABLE IF EXISTS notes_index_idx",
            "DROP TABLE IF EXISTS notes_index_docsize",
            "DROP TABLE IF EXISTS notes_index_config",
            """
            CREATE VIRTUAL TABLE notes_index
            USING fts5(body, content=note, content_rowid=id)
            """,
            "INSERT INTO notes_index(notes_index) VALUES ('rebuild')",
        ]
        do {
            try db.transaction {
                for statement in statements { try db.query(statement) }
            }
        } catch {
            // A rollback doesn't reset it.
            try db.query("PRAGMA writable_schema = OFF")
            throw error
        }
    }

    struct Mending {
        let migrator: SQLiteMigrator
        let restore: (SQLiteStore.SetAside) throws -> Void

        func open(_ path: String) throws -> SQLiteConnection {
            let store = SQLiteStore(path: path)
            let db = try store.open(recovering: restore)
            do {
                try migrator.migrate(db)
                return db
            } catch {
                db.close()
                guard error.code == .damaged else { throw error }
            }
            let mended = try store.open(check: .quick, recovering: restore)
            try migrator.migrate(mended)
            return mended
        }
    }

    func opening(cache store: SQLiteStore, _ migrator: SQLiteMigrator) throws -> SQLiteConnection {
        let cache = try store.open { _ in }
        do {
            try migrator.migrate(cache)
            return cache
        } catch let error {
            cache.close()
            guard [.statementFailed, .damaged].contains(error.code) else {
                throw error
            }
        }
        try store.setAside(onlyIfDamaged: false)
        let empty = try store.open { _ in }
        try migrator.migrate(empty)
        return empty
    }

    /// A store whose schema is whole, and whose table is broken.
    private func makeDamagedInside(_ path: String) throws {
        let db = try SQLiteConnection(path: path)
        try db.query("PRAGMA page_size = 1024")
        try db.execute(
            script: """
                CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
                INSERT INTO note SELECT i, 'the body of note ' || i FROM n;
                """
        )
        db.close()
        var data = try Data(contentsOf: URL(filePath: path))
        // The leaves of a table have this kind (Database File Format, section 1.6).
        for page in stride(from: 1_024, to: data.count, by: 1_024) where data[page] == 13 {
            data[page] = 0xFF
        }
        try data.write(to: URL(filePath: path))
    }

    private func makeDatabase(at path: String, script: String) throws {
        let db = try SQLiteConnection(path: path)
        try db.execute(script: script)
        db.close()
    }

    private func migrator(_ sql: String) throws -> SQLiteMigrator {
        try SQLiteMigrator([SQLMigration(version: 1, sql: sql)])
    }

    @Test func `a damaged store gives way to its backup`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/store"
            try makeStore(path + ".bak")
            try write("damage", to: path)
            let db = try opening(path, manager("2.0", in: folder + "/state"))
            #expect(try db.query("SELECT * FROM note") == [[1, "one"]])
            db.close()
            try write("more damage", to: path)
            try checking(SQLiteStore(path: path), "CREATE TABLE note(id)")
            #expect(try calls.take().map(read) == ["damage", "more damage"])
            #expect(!exists(path))
        }
    }

    @Test func `a store with a sound index of another table has nothing to report`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/store"
            try makeDatabase(
                at: path,
                script: """
                    CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT);
                    INSERT INTO note VALUES (1, 'one');
                    CREATE VIRTUAL TABLE notes_index USING fts4(content="note", body);
                    INSERT INTO notes_index(notes_index) VALUES ('rebuild');
                    """
            )
            let db = try reporting(SQLiteStore(path: path))
            #expect(try db.query("SELECT body FROM notes_index WHERE notes_index MATCH 'one'") == [["one"]])
            #expect(calls.take() == [])
        }
    }

    @Test func `an index that can't be opened is created again`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/store"
            try makeDatabase(
                at: path,
                script: """
                    CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT);
                    CREATE VIRTUAL TABLE notes_index USING fts5(body, content=note, content_rowid=id);
                    CREATE TRIGGER note_insert AFTER INSERT ON note
                    BEGIN INSERT INTO notes_index(rowid, body) VALUES (new.id, new.body); END;
                    INSERT INTO note VALUES (1, 'one');
                    DELETE FROM notes_index_data; DELETE FROM notes_index_config;
                    """
            )
            let db = try SQLiteConnection(path: path)
            let drop = "DROP TABLE notes_index"
            for sql in ["SELECT * FROM notes_index", drop, "INSERT INTO note VALUES (2, 'two')"] {
                #expect(throws: SQLError.self) { try db.query(sql) }
            }
            try recreateNotesIndex(in: db)
            try db.query("INSERT INTO note VALUES (2, 'two')")
            let found = "SELECT rowid FROM notes_index WHERE notes_index MATCH 'one OR two' ORDER BY 1"
            let rows = try db.query(found)
            #expect(rows == [[1], [2]])
            #expect(try db.query("PRAGMA integrity_check") == [["ok"]])
        }
    }

    @Test func `a backup is brought up where the state is ahead of it`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/store"
            let start: () throws -> [[SQLValue]] = {
                let migrations = try manager("2.0", in: folder + "/state")
                let db = try opening(path, migrations)
                defer { db.close() }
                for version in ["1.5", "2.0"] {
                    try migrations.whenMigrating(toVersion: version, in: db) { db, batch, _ in
                        if batch.cursor != nil { return .done }
                        try db.query("UPDATE note SET body = body || ?", [.text(" " + version)])
                        return .continue(at: "1")
                    }
                    if version == "1.5", !exists(path + ".bak") {
                        try FileManager.default.copyItem(atPath: path, toPath: path + ".bak")
                    }
                }
                return try db.query("SELECT body FROM note")
            }
            try makeStore(path)
            #expect(try start() == [["one 1.5 2.0"]])
            try write("damage", to: path)
            #expect(try start() == [["one 1.5 2.0"]])
        }
    }

    @Test func `damage that a migration meets gives way to the backup`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/store"
            try makeStore(path + ".bak")
            try makeDamagedInside(path)
            var aside = 0
            let rows = try migrator("UPDATE note SET body = body || 'x' WHERE body <> ''")
            let mending = Mending(migrator: rows) {
                aside += 1
                try FileManager.default.copyItem(atPath: $0.storePath + ".bak", toPath: $0.storePath)
            }
            for _ in 1...2 {
                let db = try mending.open(path)
                #expect(try db.query("SELECT * FROM note") == [[1, "onex"]])
                db.close()
            }
            #expect(aside == 1)
        }
    }
}
