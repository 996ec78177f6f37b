import AppMigrations
import AppMigrationsSQL
import AppMigrationsSQLite
import Foundation
import Testing

@testable import SQLiteStart

/// Also the samples of the first page of AppMigrationsSQLite and of the doc comments of AppMigrationsSQL.
@Suite struct WritingSQLMigrations {
    func exportAttachments(to folder: String) throws {}
    nonisolated func foldTitles(_ db: SQLiteConnection) throws {}
    func foldTitles(of count: Int, after last: Int64, in db: SQLiteConnection) throws -> Int64? { nil }

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
        // Sample 1 of AppMigrationsSQLite.md
        // Sample 2 of AppMigrationsSQLite.md
        // Sample 1 of MigrationManager+Batches.swift
    }

    func textsAndClosures(_ folder: String) throws -> SQLiteMigrator {
        // Sample 1 of WritingSQLMigrations.md
        return migrator
    }

    func longWork(_ migrations: MigrationManager, _ db: SQLiteConnection, newest: Int64) throws {
        // Sample 2 of WritingSQLMigrations.md
    }

    @Test func `rows that need the work are found by a condition, at every start`() throws {
        let db = try SQLiteConnection(path: ":memory:")
        try db.execute(
            script: """
                CREATE TABLE note(id INTEGER PRIMARY KEY, title NOT NULL, folded);
                CREATE INDEX unfolded ON note(id) WHERE folded IS NULL;
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
                INSERT INTO note(id, title) SELECT i, 'N' || i FROM n;
                """
        )
        try SQLiteStart.foldTitles(in: db)
        #expect(try db.query("SELECT count(*) FROM note WHERE folded = 'n' || id") == [[12_000]])
        let plan = try db.query(
            "EXPLAIN QUERY PLAN SELECT id, title FROM note WHERE folded IS NULL LIMIT 5000"
        )
        #expect("\(plan)".contains("unfolded"))
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
            let start = {
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

    @Test(arguments: [
        "", "CREATE TABLE note(id INTEGER PRIMARY KEY, title)",
        "CREATE TABLE note(id INTEGER PRIMARY KEY, title, folded); PRAGMA user_version = 2",
        """
        CREATE TABLE note(id INTEGER PRIMARY KEY, title);
        CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
        INSERT INTO schema_migrations VALUES (1)
        """,
        "CREATE TABLE note(id INTEGER PRIMARY KEY, title, folded)",
        """
        CREATE TABLE note(id INTEGER PRIMARY KEY, title);
        CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL)
        """,
    ])
    func `a database is opened whoever numbered it, and left alone where a newer app did`(left: String)
        async throws
    {
        try await withFolder { folder async throws in
            let db = try SQLiteConnection(path: folder + "/db")
            try db.execute(script: left)
            if !left.isEmpty { try db.query("INSERT INTO note(title) VALUES ('Ä')") }
            for _ in 1...2 { try openNotes(at: folder + "/db").close() }
            #expect(try db.query("SELECT folded FROM note") == (left.isEmpty ? [] : [["ä"]]))
            #expect(try db.query("SELECT version FROM schema_migrations ORDER BY 1") == [[1], [2], [3]])
            try db.query("INSERT INTO schema_migrations(version) VALUES (4)")
            #expect(throws: NewerNotes.self) { try openNotes(at: folder + "/db") }
        }
    }

    /// Makes a database as an old release has left it, with one note, and migrates it.
    private func migrateOldNotes(at path: String) throws {
        let old = try SQLiteConnection(path: path)
        try old.execute(script: "CREATE TABLE note(id INTEGER PRIMARY KEY, title)")
        try old.query("INSERT INTO note(title) VALUES ('Ä')")
        old.close()
        try openNotes(at: path).close()
    }

    @Test func `a damaged database comes back from the backup of the last migration`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/db"
            try migrateOldNotes(at: path)
            try write("no database", to: path)
            let db = try openNotes(at: path)
            #expect(try db.query("SELECT folded FROM note") == [["ä"]])
            db.close()
            // A damaged backup isn't copied.
            for file in [path, path + ".bak"] { try write("no database", to: file) }
            let new = try openNotes(at: path)
            #expect(try new.query("SELECT * FROM note") == [])
            new.close()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.contains { $0.hasPrefix("db-corrupt-") })
        }
    }

    @Test(arguments: [true, false])
    func `a lost database begins anew, and its backup stays`(isEmptied: Bool) async throws {
        try await withFolder { folder async throws in
            let path = folder + "/db"
            try migrateOldNotes(at: path)
            if isEmptied {
                try write("", to: path)
            } else {
                try FileManager.default.removeItem(atPath: path)
            }
            for _ in 1...2 {
                let new = try openNotes(at: path)
                #expect(try new.query("SELECT * FROM note") == [])
                new.close()
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            let kept = try #require(names.first { $0.hasPrefix("db.bak-") })
            #expect(!names.contains("db.bak"))
            let backup = try SQLiteConnection(path: folder + "/" + kept)
            #expect(try backup.query("SELECT title FROM note") == [["Ä"]])
        }
    }

    @Test func `a database that an older release made anew doesn't replace the backup`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/db"
            try migrateOldNotes(at: path)
            try FileManager.default.removeItem(atPath: path)
            let old = try SQLiteConnection(path: path)
            try old.execute(script: "CREATE TABLE note(id INTEGER PRIMARY KEY, title)")
            old.close()
            try openNotes(at: path).close()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            let kept = try #require(names.first { $0.hasPrefix("db.bak-") })
            let backup = try SQLiteConnection(path: folder + "/" + kept)
            #expect(try backup.query("SELECT title FROM note") == [["Ä"]])
        }
    }

    @Test func `a damaged file of an older release doesn't put the backup aside`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/db"
            try migrateOldNotes(at: path)
            // An older release has no ledger.
            let old = try SQLiteConnection(path: folder + "/old")
            try old.execute(script: "CREATE TABLE note(id INTEGER PRIMARY KEY, title)")
            old.close()
            var bytes = try Data(contentsOf: URL(filePath: folder + "/old"))
            bytes.replaceSubrange(4_096..., with: Data(repeating: 0xFF, count: bytes.count - 4_096))
            try FileManager.default.removeItem(atPath: path)
            try bytes.write(to: URL(filePath: path))
            let mended = try openNotes(at: path)
            #expect(try mended.query("SELECT folded FROM note") == [["ä"]])
        }
    }

    @Test func `the backup of a lost database is kept beside the file of a link`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/db"
            let file = folder + "/files/db"
            try FileManager.default.createDirectory(
                atPath: folder + "/files",
                withIntermediateDirectories: false
            )
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: file)
            try migrateOldNotes(at: path)
            try FileManager.default.removeItem(atPath: file)
            try openNotes(at: path).close()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/files")
            #expect(names.contains { $0.hasPrefix("db.bak-") })
        }
    }

    @Test func `an index that lacks rows keeps nobody out`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/db"
            try migrateOldNotes(at: path)
            let db = try SQLiteConnection(path: path)
            try db.execute(
                script: """
                    CREATE INDEX by_folded ON note (folded) WHERE folded IS NULL;
                    DROP INDEX unfolded; DELETE FROM schema_migrations WHERE version = 3;
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_master SET sql = 'CREATE INDEX by_folded ON note (folded)' WHERE name = 'by_folded';
                    """
            )
            db.close()
            let mended = try openNotes(at: path)
            #expect(try mended.query("SELECT title FROM note WHERE folded = 'ä'") == [["Ä"]])
        }
    }

    /// The first migration to read the damaged table fails with an error of that table.
    @Test func `damage that a migration meets is found, whatever its error is`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/db"
            try migrateOldNotes(at: path)
            let db = try SQLiteConnection(path: path)
            try db.execute(
                script: "DROP INDEX unfolded; DELETE FROM schema_migrations WHERE version = 3"
            )
            let root = try db.query("SELECT rootpage FROM sqlite_master WHERE name = 'note'")[0][0]
            let page = try root.value(as: Int.self)
            db.close()
            var bytes = try Data(contentsOf: URL(filePath: path))
            let damage = Data(repeating: 0xFF, count: 4_096)
            bytes.replaceSubrange((page - 1) * 4_096..<page * 4_096, with: damage)
            try bytes.write(to: URL(filePath: path))
            let mended = try openNotes(at: path)
            #expect(try mended.query("SELECT folded FROM note") == [["ä"]])
        }
    }

    @Test func `an extension reads only what the app has migrated, and changes nothing`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/db"
            let titles = {
                try readInExtension(at: path) { try $0.query("SELECT folded FROM note") }
            }
            #expect(try titles() == nil)
            #expect(!exists(path))
            let old = try SQLiteConnection(path: path)
            try old.execute(script: "CREATE TABLE note(id INTEGER PRIMARY KEY, title)")
            try old.query("INSERT INTO note(title) VALUES ('Ä')")
            old.close()
            #expect(try titles() == nil)
            try openNotes(at: path).close()
            #expect(try titles() == [["ä"]])
            let newer = try SQLiteConnection(path: path)
            try newer.query("INSERT INTO schema_migrations(version) VALUES (4)")
            newer.close()
            #expect(throws: NewerNotes.self) { try titles() }
        }
    }

    @Test func `a backup with a damaged schema isn't restored`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/db"
            try migrateOldNotes(at: path)
            let backup = URL(filePath: path + ".bak")
            var bytes = try Data(contentsOf: backup)
            let place = try #require(bytes.range(of: Data("CREATE TABLE note".utf8)))
            bytes.replaceSubrange(place, with: Data("CREATE TABLX note".utf8))
            try bytes.write(to: backup)
            try write("no database", to: path)
            for _ in 1...2 { try openNotes(at: path).close() }
        }
    }

    @Test func `a gate migrates the notes, which the app opens afterwards`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/db"
            let db = try SQLiteConnection(path: path)
            try db.execute(script: "CREATE TABLE note(id INTEGER PRIMARY KEY, title)")
            for title in ["Ä", "Ö"] {
                // The second one is that of an older release.
                try db.query("INSERT INTO note(title) VALUES (?)", [SQLValue(title)])
                try await notesGate(at: path).ready()
            }
            #expect(try db.query("SELECT folded FROM note ORDER BY id") == [["ä"], ["ö"]])
        }
    }

    @Test func `a version that a ledger with rows lacks isn't recorded without running`() async throws {
        try await withFolder { folder async throws in
            let db = try SQLiteConnection(path: folder + "/db")
            try db.execute(
                script: """
                    CREATE TABLE note(id INTEGER PRIMARY KEY, title, folded);
                    CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
                    INSERT INTO schema_migrations VALUES (1);
                    """
            )
            let error = #expect(throws: SQLError.self) { try openNotes(at: folder + "/db") }
            #expect(error?.version == 2)
            #expect(try db.query("SELECT version FROM schema_migrations") == [[1]])
        }
    }

    @Test func `a number above all migrations is a newer app's, whose database is left alone`() async throws {
        try await withFolder { folder async throws in
            let db = try SQLiteConnection(path: folder + "/db")
            try db.execute(script: "CREATE TABLE note(id); PRAGMA user_version = 9")
            let error = #expect(throws: SQLError.self) { try openNotes(at: folder + "/db") }
            #expect(error?.code == .unknownTarget)
            #expect(try db.query("SELECT name FROM sqlite_master") == [["note"]])
        }
    }
}
