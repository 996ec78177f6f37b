import AppMigrationsSQL
import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation
import Testing

@testable import RecipeStart

/// The section of ChangingATable.md about a released file with the recipe.
@Suite struct RecipeInAFile {
    /// The released file 5, statement by statement.
    private static let oldFile = [
        "COMMIT",
        "ALTER TABLE note RENAME TO note_bak",
        """
        CREATE TABLE note (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            created TEXT NOT NULL, title TEXT NOT NULL, rating INTEGER
        )
        """,
        """
        INSERT INTO note (id, created, title, rating)
            SELECT id, created, title, CAST(stars AS INTEGER) FROM note_bak
        """,
        "DROP TABLE note_bak",
        "CREATE INDEX note_by_title ON note (title)",
        "BEGIN",
    ]

    /// The released files 1 to 4.
    private static let files = [
        "1_note.sql": """
        CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, created TEXT NOT NULL, title TEXT NOT NULL)
        """,
        "2_attachment.sql": """
        CREATE TABLE attachment (id INTEGER PRIMARY KEY, note INTEGER NOT NULL REFERENCES note ON DELETE CASCADE)
        """,
        "3_stars.sql": "ALTER TABLE note ADD COLUMN stars TEXT",
        "4_index.sql": "CREATE INDEX note_by_title ON note (title)",
    ]

    private static let rows = """
        INSERT INTO note VALUES (1, 'mo', 'one', '3'), (2, 'tu', 'two', '4'), (5, 'fr', 'five', NULL), (9, 'x', 'x', NULL);
        DELETE FROM note WHERE id = 9;
        INSERT INTO attachment VALUES (10, 1), (20, 2);
        """

    /// Writes the files 1 to 4, and a database in which FMDBMigrationManager has run them up to `version`.
    private func makeNotes(in folder: String, upTo version: Int = 4) throws -> String {
        try FileManager.default.createDirectory(atPath: folder + "/files", withIntermediateDirectories: true)
        for (name, sql) in Self.files { try write(sql, to: "\(folder)/files/\(name)") }
        let path = folder + "/notes.sqlite"
        let db = try SQLiteConnection(path: path)
        try db.query("CREATE TABLE schema_migrations (version INTEGER UNIQUE NOT NULL)")
        for (name, sql) in Self.files.sorted(by: { $0.key < $1.key }).prefix(version) {
            try db.execute(script: sql)
            try db.execute(script: "INSERT INTO schema_migrations VALUES (\(name.prefix(1)))")
        }
        try db.execute(script: Self.rows)
        db.close()
        return path
    }

    /// Starts the old app, which runs the file 5 as FMDBMigrationManager does.
    ///
    /// The app dies after `count` statements of the file. An error of a statement is ignored, as the app did.
    private func startOldApp(
        at path: String,
        file: [String] = oldFile,
        dyingAfter count: Int? = nil,
        then use: String? = nil
    ) throws {
        let db = try SQLiteConnection(path: path)
        defer { db.close() }
        if try db.query("SELECT 1 FROM schema_migrations WHERE version = 5").isEmpty {
            do {
                try db.query("BEGIN EXCLUSIVE")
                for statement in file.prefix(count ?? file.count) { try db.query(statement) }
                if count == nil {
                    try db.query("INSERT INTO schema_migrations (version) VALUES (5)")
                    try db.query("COMMIT")
                }
            } catch {
                #expect(error.code == .statementFailed)
            }
            if try db.isInTransaction { try db.query("ROLLBACK") }
        }
        if let use { try db.execute(script: use) }
    }

    /// Starts the new app, as "An app on SQLite" does.
    private func startNewApp(at path: String, files: String) throws -> SQLiteConnection {
        let migrator = try notesMigrator(folder: files)
        let db = try SQLiteConnection(path: path)
        let old = try versionFound(in: db)
        let status = try migrator.status(db)
        if status.applied.isEmpty {
            try migrator.markApplied(upTo: old, in: db, repairingLedger: status.hasMigrationsTable)
        }
        try migrator.migrate(db)
        return db
    }

    /// Expects the shape of a new install, and the right rows.
    private func expectRated(_ db: SQLiteConnection, _ notes: [[SQLValue]], added: [String] = []) throws {
        let columns = try db.query("SELECT name, type FROM pragma_table_info('note')")
        #expect(columns.map { $0[0] } == ["id", "created", "title", "rating"])
        let old = try db.query(
            "SELECT id, title, rating FROM note WHERE title NOT LIKE 'added%' ORDER BY id"
        )
        #expect(old == notes)
        let new = try db.query("SELECT title FROM note WHERE title LIKE 'added%' ORDER BY title")
        #expect(new == added.map { [.text($0)] })
        let kept = notes.contains { $0[0] == 1 } ? [[10, 1], [20, 2]] as [[SQLValue]] : [[20, 2]]
        #expect(try db.query("SELECT * FROM attachment WHERE id < 30") == kept)
        #expect(try db.query("PRAGMA foreign_key_check").isEmpty)
        let index = "SELECT tbl_name FROM sqlite_master WHERE name = 'note_by_title'"
        #expect(try db.query(index) == [["note"]])
        #expect(try db.query("SELECT 1 FROM sqlite_master WHERE instr(sql, 'note_bak')").isEmpty)
        let ledger = try db.query("SELECT version FROM schema_migrations ORDER BY 1")
        #expect(ledger == [[1], [2], [3], [4], [5], [6]])
    }

    private static let original: [[SQLValue]] = [[1, "one", 3], [2, "two", 4], [5, "five", nil]]
    private static let edited: [[SQLValue]] = [[2, "edited", 4], [5, "five", nil]]

    /// What a user does with the table of version 5.
    private func use(adding title: String) -> String {
        """
        INSERT INTO note (created, title, rating) VALUES ('\(title)', '\(title)', 1);
        UPDATE note SET title = 'edited' WHERE created = 'tu';
        DELETE FROM attachment WHERE note IN (SELECT id FROM note WHERE created = 'mo');
        DELETE FROM note WHERE created = 'mo';
        """
    }

    @Test(arguments: ["", "INSERT INTO note (created, title, rating) VALUES ('new', 'added', 1);"])
    func `copied notes that a user has deleted don't come back`(use: String) async throws {
        try await withFolder { folder async throws in
            let path = try makeNotes(in: folder)
            try startOldApp(at: path, dyingAfter: 4, then: "DELETE FROM attachment; DELETE FROM note;" + use)
            let db = try startNewApp(at: path, files: folder + "/files")
            let titles: [[SQLValue]] = use.isEmpty ? [] : [["added"]]
            #expect(try db.query("SELECT title FROM note") == titles)
            db.close()
        }
    }

    @Test func `a backup of an earlier recipe doesn't replace the notes`() async throws {
        try await withFolder { folder async throws in
            let path = try makeNotes(in: folder)
            let old = try SQLiteConnection(path: path)
            try old.execute(script: "CREATE TABLE note_bak AS SELECT * FROM note WHERE id = 1")
            old.close()
            let db = try startNewApp(at: path, files: folder + "/files")
            try expectRated(db, Self.original)
            db.close()
        }
    }

    @Test(arguments: 0...8, [false, true])
    func `whatever the old file has left is completed`(statements: Int, isLedgerEmpty: Bool) async throws {
        // After 3 statements, the app can use the new table. It has the rows after 4.
        let uses = statements < 3 ? [nil] : [nil, use(adding: "added")]
        for use in uses {
            try await withFolder { folder async throws in
                let path = try makeNotes(in: folder)
                let dying = statements == 8 ? nil : statements
                try startOldApp(at: path, dyingAfter: dying, then: use)
                if isLedgerEmpty {
                    let db = try SQLiteConnection(path: path)
                    try db.query("DELETE FROM schema_migrations")
                    db.close()
                }
                for _ in 1...2 {
                    let db = try startNewApp(at: path, files: folder + "/files")
                    let isEdited = use != nil && statements >= 4
                    try expectRated(
                        db,
                        isEdited ? Self.edited : Self.original,
                        added: use == nil ? [] : ["added"]
                    )
                    let kept = try db.query("SELECT name FROM sqlite_master WHERE name LIKE 'note_kept%'")
                    #expect(kept == (statements == 4 ? [["note_kept"]] : []))
                    db.close()
                }
            }
        }
    }

    @Test(arguments: 2...7, 1...7)
    func `the old app may run its file again`(first: Int, second: Int) async throws {
        try await withFolder { folder async throws in
            let path = try makeNotes(in: folder)
            let isUsable = first >= 3
            try startOldApp(at: path, dyingAfter: first, then: isUsable ? use(adding: "added 1") : nil)
            // The file renames the new table if the backup is gone, and can't copy it.
            let isRunAgain = first >= 5
            let isUsableAgain = isRunAgain ? second != 2 : isUsable
            try startOldApp(at: path, dyingAfter: second, then: isUsableAgain ? use(adding: "added 2") : nil)
            let db = try startNewApp(at: path, files: folder + "/files")
            let added = (isUsable ? ["added 1"] : []) + (isUsableAgain ? ["added 2"] : [])
            try expectRated(db, first >= 4 ? Self.edited : Self.original, added: added)
            db.close()
        }
    }

    @Test(arguments: 0...7)
    func `the old app may break the table after a new one has died before version 5`(statements: Int)
        async throws
    {
        try await withFolder { folder async throws in
            let path = try makeNotes(in: folder, upTo: 3)
            let new = try SQLiteConnection(path: path)
            let migrator = try notesMigrator(folder: folder + "/files")
            let error = #expect(throws: SQLError.self) {
                try migrator.migrate(new, progress: { $0.version == 4 ? .stop : .continue })
            }
            #expect(error?.code == .stopped)
            new.close()
            try startOldApp(at: path, dyingAfter: statements)
            let db = try startNewApp(at: path, files: folder + "/files")
            try expectRated(db, Self.original)
            db.close()
            // Version 5 is recorded, so the old app leaves the table alone.
            try startOldApp(at: path, then: use(adding: "added"))
            let again = try startNewApp(at: path, files: folder + "/files")
            try expectRated(again, Self.edited, added: ["added"])
            again.close()
        }
    }

    @Test(arguments: [3, 4], [false, true])
    func `version 6 completes a recorded recipe whose error was ignored`(statements: Int, isUsed: Bool)
        async throws
    {
        try await withFolder { folder async throws in
            let path = try makeNotes(in: folder)
            let use = isUsed ? use(adding: "added") : ""
            try startOldApp(
                at: path,
                dyingAfter: statements,
                then: use + "INSERT INTO schema_migrations VALUES (5)"
            )
            let db = try startNewApp(at: path, files: folder + "/files")
            let notes = isUsed && statements == 4 ? Self.edited : Self.original
            try expectRated(db, notes, added: isUsed ? ["added"] : [])
            db.close()
        }
    }

    @Test func `a new install has the same table`() async throws {
        try await withFolder { folder async throws in
            _ = try makeNotes(in: folder)
            let db = try startNewApp(at: folder + "/new.sqlite", files: folder + "/files")
            try db.execute(script: Self.rows.replacingOccurrences(of: "'3'", with: "3"))
            try db.query("UPDATE note SET rating = 4 WHERE id = 2")
            try expectRated(db, Self.original)
            db.close()
        }
    }

    @Test(arguments: [3, 4], [false, true])
    func `the counter shows whether the rows were copied`(statements: Int, isUsed: Bool) async throws {
        try await withFolder { folder async throws in
            let path = try makeNotes(in: folder)
            try startOldApp(at: path, dyingAfter: statements, then: isUsed ? use(adding: "added") : nil)
            let db = try SQLiteConnection(path: path)
            let found = try db.query(
                "SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'note') >= (SELECT max(id) FROM note_bak)"
            )
            #expect((found == [[1]]) == (statements == 4))
            db.close()
        }
    }

    @Test func `an added note keeps an id that is free`() async throws {
        try await withFolder { folder async throws in
            let path = try makeNotes(in: folder)
            try startOldApp(
                at: path,
                dyingAfter: 3,
                then: """
                    INSERT INTO note VALUES (1, 'sa', 'added 1', 2), (3, 'sa', 'added 3', 2);
                    INSERT INTO attachment VALUES (30, 3)
                    """
            )
            let db = try startNewApp(at: path, files: folder + "/files")
            try expectRated(db, Self.original, added: ["added 1", "added 3"])
            #expect(
                try db.query("SELECT id, title FROM note WHERE title LIKE 'added%' ORDER BY id")
                    == [[3, "added 3"], [10, "added 1"]]
            )
            #expect(try db.query("SELECT note FROM attachment WHERE id = 30") == [[3]])
            db.close()
        }
    }
}
