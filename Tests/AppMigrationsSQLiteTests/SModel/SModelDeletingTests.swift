import AppMigrationsSQL
import AppMigrationsSQLite
import SQLTestSupport
import Testing

/// A log-out, which deletes the rows of the user and keeps what is recorded about the database.
@Suite struct SModelDeletingTests {
    private static func database(_ script: String) throws -> SQLiteConnection {
        let db = try SQLiteConnection(path: ":memory:")
        try db.execute(script: script)
        return db
    }

    /// The tables with a row.
    private static func filled(in db: SQLiteConnection) throws -> Set<String> {
        var names = Set<String>()
        for row in try db.query("SELECT name FROM sqlite_master WHERE type = 'table'") {
            let name = try row[0].value(as: String.self)
            let quoted = name.replacing("\"", with: "\"\"")
            if try !db.query("SELECT 1 FROM \"\(quoted)\" LIMIT 1").isEmpty { names.insert(name) }
        }
        return names
    }

    @Test func `the rows of all tables are deleted, and what has run stays recorded`() throws {
        let db = try Self.database(
            SModelTrackerTests.table + """
                PRAGMA user_version = 1002;
                INSERT INTO _sModel_DBDefTracker VALUES ('', 1, 5, 'x');
                CREATE TABLE app_migrations(manager, version);
                INSERT INTO app_migrations VALUES ('Library', '1.0');
                CREATE TABLE "my ""notes"(id INTEGER PRIMARY KEY AUTOINCREMENT);
                INSERT INTO "my ""notes" VALUES (7);
                CREATE TABLE Settings(a);
                INSERT INTO Settings VALUES (1);
                CREATE TABLE release(version, name, checksum, notes);
                INSERT INTO release VALUES (1, 'one', 'x', 'x');
                CREATE TABLE product(version, name);
                INSERT INTO product VALUES (1, 'one');
                CREATE TABLE employment(manager, version, person);
                INSERT INTO employment VALUES ('Ann', 1, 'Bob');
                CREATE TABLE support(manager, version);
                INSERT INTO support VALUES ('Ann', '1.0');
                CREATE TABLE asset(name, version, checksum);
                INSERT INTO asset VALUES ('a', 1, 'x');
                """
        )
        try SQLiteMigrator([SQLiteMigration(version: 1, sql: "CREATE TABLE a(x); INSERT INTO a VALUES (1)")])
            .migrate(db)
        let songs = SQLiteMigration(version: 1, sql: "CREATE TABLE song(x); INSERT INTO song VALUES (1)")
        try SQLiteMigrator([songs], ledger: "songs").migrate(db)
        try db.execute(
            script: """
                CREATE TABLE closures(manager, version, cursor);
                INSERT INTO closures VALUES ('Library', '1.0', NULL);
                """
        )
        try SModelTracker.deleteAllRows(in: db, except: ["settings"])
        let kept: Set = [
            "_sModel_DBDefTracker", "app_migrations", "closures", "schema_migrations", "songs", "Settings",
            "sqlite_sequence",
        ]
        #expect(try Self.filled(in: db) == kept)
        #expect(try SModelTracker().version(in: db) == 1)
    }

    @Test(arguments: OtherLedger.all)
    func `the ledger of another tool keeps its rows`(ledger: OtherLedger) throws {
        let db = try Self.database(
            "\(ledger.script); CREATE TABLE note(id, version, name, tag); INSERT INTO note(id) VALUES (1)"
        )
        try SModelTracker.deleteAllRows(in: db)
        #expect(try Self.filled(in: db).subtracting(["sqlite_sequence"]) == [ledger.table])
    }

    @Test(arguments: OtherLedger.all.filter { $0.table != "schema_migrations" })
    func `a table of the app with the name of another tool's ledger is emptied`(ledger: OtherLedger) throws {
        let db = try Self.database(
            "\(ledger.script); ALTER TABLE \(ledger.table) ADD COLUMN more DEFAULT 1"
        )
        try SModelTracker.deleteAllRows(in: db)
        #expect(try Self.filled(in: db).subtracting(["sqlite_sequence"]).isEmpty)
    }

    /// A table is emptied before one that refers to it, and a trigger fills a table that is already empty.
    @Test(arguments: [["a", "b", "c"], ["c", "b", "a"]])
    func `foreign keys and triggers are no obstacle`(names: [String]) throws {
        let db = try SQLiteConnection(path: ":memory:")
        try db.query("PRAGMA foreign_keys = ON")
        try db.query("CREATE TABLE log(text)")
        for table in names {
            let sql =
                switch table {
                case "a": "CREATE TABLE a(id INTEGER PRIMARY KEY)"
                case "b": "CREATE TABLE b(a REFERENCES a ON DELETE RESTRICT)"
                default: "CREATE TABLE c(a REFERENCES a)"
                }
            try db.query(sql)
        }
        try db.execute(
            script: """
                CREATE TABLE folder(id INTEGER PRIMARY KEY, cover REFERENCES note);
                CREATE TABLE note(id INTEGER PRIMARY KEY, folder REFERENCES folder);
                INSERT INTO folder VALUES (1, NULL);
                INSERT INTO note VALUES (1, 1);
                UPDATE folder SET cover = 1;
                CREATE TRIGGER log_a AFTER DELETE ON a BEGIN INSERT INTO log VALUES ('deleted'); END;
                INSERT INTO a VALUES (1);
                INSERT INTO b VALUES (1);
                INSERT INTO c VALUES (1);
                """
        )
        try SModelTracker.deleteAllRows(in: db)
        #expect(try Self.filled(in: db).isEmpty)
    }

    @Test func `full-text indexes are emptied with their tables`() throws {
        let db = try Self.database(
            """
            CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT);
            CREATE VIRTUAL TABLE words USING fts5(body, content='note', content_rowid='id');
            CREATE TRIGGER add_words AFTER INSERT ON note
            BEGIN INSERT INTO words(rowid, body) VALUES (new.id, new.body); END;
            CREATE TRIGGER remove_words AFTER DELETE ON note
            BEGIN INSERT INTO words(words, rowid, body) VALUES ('delete', old.id, old.body); END;
            CREATE VIRTUAL TABLE own USING fts5(body);
            INSERT INTO note VALUES (1, 'one');
            INSERT INTO own VALUES ('one');
            """
        )
        try SModelTracker.deleteAllRows(in: db)
        for table in ["words", "own"] {
            #expect(try db.query("SELECT rowid FROM \(table) WHERE \(table) MATCH 'one'").isEmpty)
            try db.query("INSERT INTO \(table)(\(table)) VALUES ('integrity-check')")
        }
    }

    @Test(
        arguments: [
            // A kept row refers to a deleted one.
            "CREATE TABLE kept(a REFERENCES a); INSERT INTO kept VALUES (1)",
            "CREATE TRIGGER refuse BEFORE DELETE ON a BEGIN SELECT RAISE(ABORT, 'refused'); END",
            "CREATE TRIGGER again AFTER DELETE ON a BEGIN INSERT INTO a VALUES (old.id + 1); END",
            "CREATE VIRTUAL TABLE v USING fts5(x, content=''); INSERT INTO v VALUES ('one')",
        ]
    )
    func `if a row can't be deleted, none is`(script: String) throws {
        let db = try Self.database(
            """
            PRAGMA foreign_keys = ON;
            CREATE TABLE a(id INTEGER PRIMARY KEY);
            CREATE TABLE b(x);
            INSERT INTO a VALUES (1);
            INSERT INTO b VALUES (1);
            \(script)
            """
        )
        #expect(throws: SQLError.self) { try SModelTracker.deleteAllRows(in: db, except: ["kept"]) }
        #expect(try db.query("SELECT id FROM a") == [[1]] && db.query("SELECT x FROM b") == [[1]])
    }

    @Test func `in a transaction, the deletion is part of the transaction`() throws {
        let db = try Self.database("CREATE TABLE a(x); INSERT INTO a VALUES (1)")
        try db.query("BEGIN")
        try SModelTracker.deleteAllRows(in: db)
        #expect(try Self.filled(in: db).isEmpty)
        try db.query("ROLLBACK")
        #expect(try Self.filled(in: db) == ["a"])
    }
}
