import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

/// What the recipe "rename to _bak, create, copy, drop" has left where a process died in it.
@Suite(.temporaryDirectory) struct InterruptedTableCopyTests {
    /// A table with everything that a rename drags along.
    private static let old = """
        CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER REFERENCES folder, title TEXT);
        CREATE TABLE attachment (id INTEGER PRIMARY KEY, note INTEGER NOT NULL REFERENCES note ON DELETE CASCADE);
        CREATE TABLE log (title TEXT);
        CREATE INDEX note_by_folder ON note (folder);
        CREATE VIEW note_titles AS SELECT id, title FROM note;
        CREATE TRIGGER note_logged AFTER UPDATE ON note BEGIN INSERT INTO log SELECT title FROM note WHERE id = new.id; END;
        INSERT INTO folder VALUES (1, 'home');
        INSERT INTO note VALUES (1, 1, 'one'), (2, 1, 'two'), (100, NULL, 'gone');
        DELETE FROM note WHERE id = 100;
        INSERT INTO attachment VALUES (10, 1), (20, 2);
        """
    private static let rename = "ALTER TABLE note RENAME TO note_bak;"
    private static let create = """
        CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER REFERENCES folder, title TEXT, color TEXT);
        """
    private static let copy = "INSERT INTO note SELECT id, folder, title, NULL FROM note_bak"

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let script: String
        let state: InterruptedTableCopy.State

        init(_ name: String, _ script: String, _ state: InterruptedTableCopy.State) {
            self.name = name
            self.script = script
            self.state = state
        }

        var testDescription: String { name }
    }

    private static let decided: [Row] = [
        Row("renamed", rename, .backupOnly),
        Row(
            "renamed by an old SQLite",
            "PRAGMA legacy_alter_table = ON; \(rename) PRAGMA legacy_alter_table = OFF",
            .backupOnly
        ),
    ]

    /// What stands in `note` next to the backup.
    private static let undecided: [Row] = [
        Row("empty", "", .subset),
        Row("half full", copy + " WHERE id = 1", .subset),
        Row("full", copy, .subset),
        Row("a deleted row", copy + "; DELETE FROM note WHERE id = 1", .subset),
        Row("only deleted rows", copy + "; DELETE FROM note", .subset),
        Row("a changed value", copy + "; UPDATE note SET title = 'new' WHERE id = 2", .diverged),
        Row("another case", copy + "; UPDATE note SET title = 'TWO' WHERE id = 2", .diverged),
        Row("a value of a new column", copy + "; UPDATE note SET color = 'red' WHERE id = 2", .diverged),
        Row("a new row", copy + "; INSERT INTO note VALUES (3, 1, 'three', NULL)", .diverged),
        Row(
            "another case in a new column",
            """
            DROP TABLE note; CREATE TABLE note (id INTEGER PRIMARY KEY, color TEXT COLLATE NOCASE DEFAULT 'red');
            INSERT INTO note VALUES (1, 'RED')
            """,
            .diverged
        ),
        Row(
            "defaults that are names",
            """
            DROP TABLE note; CREATE TABLE note (
                id INTEGER PRIMARY KEY, color DEFAULT red, size DEFAULT "id", kind DEFAULT [a b], flag DEFAULT TRUE,
                day DEFAULT NULL
            );
            INSERT INTO note (id) VALUES (1)
            """,
            .subset
        ),
        Row(
            "no column in common",
            "DROP TABLE note; CREATE TABLE note (other); INSERT INTO note VALUES (1)",
            .diverged
        ),
    ]

    private let copy = InterruptedTableCopy(of: "note")

    /// Expects that all that belonged to the table belongs to it again, and that the numbers go on.
    private func expectWhole(_ db: SQLiteConnection, next: SQLValue = 101) throws {
        #expect(try copy.state(in: db) == .none)
        try db.query("INSERT INTO note (folder, title) VALUES (1, 'next')")
        #expect(try db.query("SELECT max(id) FROM note_titles") == [[next]])
        try db.query("UPDATE note SET title = 'x' WHERE id = 2")
        #expect(try db.query("SELECT * FROM log") == [["x"]])
        #expect(
            try db.query("SELECT tbl_name FROM sqlite_master WHERE name = 'note_by_folder'") == [["note"]]
        )
        try db.query("DELETE FROM note WHERE id = 1")
        #expect(try db.query("SELECT * FROM attachment") == [[20, 2]])
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
        #expect(try db.query("PRAGMA foreign_key_check").isEmpty)
        #expect(try db.query("PRAGMA integrity_check") == [["ok"]])
    }

    @Test(arguments: decided, [false, true])
    func `a table of which only the backup is left comes back`(row: Row, isMigration: Bool) throws {
        let db = try database(Self.old + row.script)
        #expect(try copy.state(in: db) == row.state)
        if isMigration {
            try Migrator([Migration(version: 1) { db, _ in try copy.recover(db) }]).migrate(db)
        } else {
            #expect(try copy.recover(db) == row.state)
        }
        #expect(try db.query("SELECT id, title FROM note") == [[1, "one"], [2, "two"]])
        try expectWhole(db)
    }

    @Test(arguments: undecided, [false, true])
    func `two tables are asked about, and nothing is changed`(row: Row, isMigration: Bool) throws {
        let db = try database(Self.old + Self.rename + Self.create + row.script)
        let before = try db.query("SELECT * FROM sqlite_master")
        let rows = try db.query("SELECT count(*) FROM note")
        #expect(try copy.state(in: db) == row.state)
        let error = try sqlError { try copy.recover(db) }
        #expect(error.code == .undecidedCopy)
        let reason =
            row.state == .subset
            ? "has only rows that note_bak has, too: either the copy was interrupted, or rows were deleted later"
            : "has rows or values that note_bak lacks, so either may have the right rows"
        #expect(
            error.description
                == "Recovering the table note: note_bak exists, and note \(reason)."
                + " Nothing was changed. Choose one of them (choosing:). The other one is kept."
        )
        #expect(try db.query("SELECT * FROM sqlite_master") == before)
        if isMigration {
            try Migrator([Migration(version: 1) { db, _ in try copy.recover(db, choosing: .backup) }])
                .migrate(db)
        } else {
            #expect(try copy.recover(db, choosing: .backup) == row.state)
        }
        #expect(try db.query("SELECT id, title FROM note") == [[1, "one"], [2, "two"]])
        #expect(try db.query("SELECT count(*) FROM note_kept") == rows)
        try expectWhole(db)
    }

    @Test func `rows that were deleted since a completed copy stay deleted by choice`() throws {
        let deletion = "; DELETE FROM note WHERE id = 1; DELETE FROM attachment WHERE note = 1"
        let db = try database(Self.old + Self.rename + Self.create + Self.copy + deletion)
        #expect(try copy.recover(db, choosing: .table) == .subset)
        #expect(try db.query("SELECT id, title FROM note") == [[2, "two"]])
        #expect(try db.query("SELECT id, title FROM note_kept") == [[1, "one"], [2, "two"]])
    }

    @Test func `only names change, and no text or comment that looks like one`() throws {
        let db = try database(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT DEFAULT '"note_bak"');
            CREATE VIEW seen AS SELECT id, '"note_bak"' AS word, 'note_bak' AS other /* not "note_bak" */ FROM note;
            CREATE TABLE child (note REFERENCES note, word DEFAULT '"note_bak"');
            """
        )
        #expect(try copy.state(in: db) == .none)
        try db.execute(script: Self.rename)
        #expect(try copy.recover(db) == .backupOnly)
        let texts = try db.query("SELECT sql FROM sqlite_master").map(\.description).joined()
        #expect(texts.ranges(of: "note_bak").count == 5)
        #expect(try copy.state(in: db) == .none)
        try db.query("INSERT INTO note (id) VALUES (1)")
        #expect(try db.query("SELECT * FROM seen") == [[1, "\"note_bak\"", "note_bak"]])
    }

    @Test func `the table is kept by choice, with the indexes of the backup`() throws {
        let edit =
            "; UPDATE note SET title = 'edited' WHERE id = 2; INSERT INTO note VALUES (300, 1, 'three', 'red')"
        let db = try database(Self.old + Self.rename + Self.create + Self.copy + edit)
        try copy.recover(db, choosing: .table)
        #expect(try db.query("SELECT id, title FROM note") == [[1, "one"], [2, "edited"], [300, "three"]])
        #expect(try db.query("SELECT id, title FROM note_kept") == [[1, "one"], [2, "two"]])
        try expectWhole(db, next: 301)
    }

    @Test func `the counter is found in whatever case the table is named`() throws {
        let db = try database(
            """
            CREATE TABLE Note (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO Note VALUES (1), (100);
            ALTER TABLE Note RENAME TO Note_Bak; CREATE TABLE NOTE (id INTEGER PRIMARY KEY AUTOINCREMENT);
            """
        )
        try copy.recover(db, choosing: .table)
        try db.query("INSERT INTO note DEFAULT VALUES")
        #expect(try db.query("SELECT id FROM note") == [[101]])
    }

    @Test func `a number that the other table gave out is not given out again`() throws {
        let edit =
            "; INSERT INTO note VALUES (500, 1, 'five hundred', NULL); DELETE FROM note WHERE id = 500; UPDATE note SET color = 1"
        let db = try database(Self.old + Self.rename + Self.create + Self.copy + edit)
        try copy.recover(db, choosing: .backup)
        try expectWhole(db, next: 501)
    }

    @Test func `names that are left of a backup are the table's again`() throws {
        let db = try database(Self.old + Self.rename + Self.create + Self.copy, foreignKeys: false)
        try db.execute(script: "DROP VIEW note_titles; DROP TABLE note_bak")
        try db.query("PRAGMA foreign_keys = ON")
        #expect(try copy.state(in: db) == .namesOnly)
        try copy.recover(db)
        #expect(try copy.state(in: db) == .none)
        try db.query("INSERT INTO attachment VALUES (30, 2)")
        #expect(throws: SQLError.self) { try db.query("INSERT INTO attachment VALUES (31, 99)") }
    }

    @Test func `a database without a copy is left alone`() throws {
        let db = try database(Self.old)
        let before = try db.query("PRAGMA schema_version")
        #expect(try copy.recover(db) == .none)
        #expect(try InterruptedTableCopy(of: "missing").recover(db) == .none)
        #expect(try db.query("PRAGMA schema_version") == before)
    }

    /// A tree, of which the copy has some children without their parents.
    @Test(arguments: ["", " WHERE id = 3", " WHERE id <> 2"])
    func `a table that refers to itself comes back on a connection with foreign keys`(condition: String)
        throws
    {
        let tree = "id INTEGER PRIMARY KEY, parent INTEGER REFERENCES note ON DELETE CASCADE"
        let db = try database(
            """
            CREATE TABLE note (\(tree)); INSERT INTO note VALUES (1, NULL), (2, 1), (3, 2);
            ALTER TABLE note RENAME TO note_bak; CREATE TABLE note (\(tree));
            INSERT INTO note SELECT * FROM note_bak\(condition);
            """,
            foreignKeys: false
        )
        try db.query("PRAGMA foreign_keys = ON")
        try Migrator([Migration(version: 1) { db, _ in try copy.recover(db, choosing: .backup) }]).migrate(db)
        #expect(try db.query("SELECT * FROM note") == [[1, nil], [2, 1], [3, 2]])
        #expect(try db.query("PRAGMA foreign_key_check(note)").isEmpty)
        try db.query("DELETE FROM note WHERE id = 2")
        #expect(try db.query("SELECT id FROM note") == [[1]])
    }

    /// A row that refers to a missing row, in a database whose old app had foreign keys off.
    enum Dangling: String, CaseIterable {
        case selfReference = "UPDATE note SET parent = 99 WHERE id = 2"
        case otherTable = "UPDATE note SET folder = 99 WHERE id = 2"
        case child = "INSERT INTO attachment VALUES (1, 99)"
        case several = """
            UPDATE note SET parent = 99, folder = 99; INSERT INTO attachment VALUES (1, 99), (2, 1), (3, 98)
            """
    }

    /// Where a recovery runs.
    enum Place: CaseIterable {
        case staged, stagedWithForeignKeys, inPlace, inPlaceWithForeignKeys, migration
    }

    /// What `note` has next to the backup.
    enum Rest: String, CaseIterable {
        case none = "DROP TABLE note"
        case empty = "DELETE FROM note"
        case half = "DELETE FROM note WHERE id = 1"
        case full = "SELECT 1"
        case more = "INSERT INTO note VALUES (3, 97, 97), (4, 97, 97), (5, 97, 97)"

        /// True if the chosen table has every row that another row referred to before.
        func hasParents(_ choice: InterruptedTableCopy.Choice) -> Bool {
            choice == .backup || self == .none || self == .full || self == .more
        }
    }

    private static let recoveries = [InterruptedTableCopy.Choice.backup, .table].flatMap { choice in
        Rest.allCases.filter { $0.hasParents(choice) }.map { (choice, $0) }
    }

    @Test(arguments: Dangling.allCases, recoveries)
    func `a row that referred to a missing row before hinders no recovery`(
        dangling: Dangling,
        recovery: (InterruptedTableCopy.Choice, Rest)
    ) throws {
        let (choice, rest) = recovery
        for legacy in ["OFF", "ON"] {
            let note =
                "id INTEGER PRIMARY KEY, parent INTEGER REFERENCES note, folder INTEGER REFERENCES folder"
            let script = """
                CREATE TABLE folder (id INTEGER PRIMARY KEY);
                CREATE TABLE note (\(note));
                CREATE TABLE attachment (id INTEGER PRIMARY KEY, note INTEGER REFERENCES note);
                INSERT INTO note VALUES (1, NULL, NULL), (2, 1, NULL); \(dangling.rawValue);
                PRAGMA legacy_alter_table = \(legacy); ALTER TABLE note RENAME TO note_bak;
                PRAGMA legacy_alter_table = OFF; CREATE TABLE note (\(note));
                INSERT INTO note SELECT * FROM note_bak; \(rest.rawValue);
                """
            for place in Place.allCases {
                let path = TemporaryDirectory.current.file("\(place) \(legacy)")
                let db = try SQLiteConnection(path: path)
                try db.execute(script: script)
                let chosen = choice == .table && rest != .none ? "note" : "note_bak"
                let rows = try db.query("SELECT * FROM \(chosen)")
                switch place {
                case .staged, .stagedWithForeignKeys:
                    db.close()
                    try SQLiteStore(path: path).migrateStaged {
                        if place == .stagedWithForeignKeys { try $0.query("PRAGMA foreign_keys = ON") }
                        try copy.recover($0, choosing: choice)
                    }
                case .inPlace: try copy.recover(db, choosing: choice)
                case .inPlaceWithForeignKeys:
                    try db.query("PRAGMA foreign_keys = ON")
                    try copy.recover(db, choosing: choice)
                case .migration:
                    try db.query("PRAGMA foreign_keys = ON")
                    let recovery = Migration(version: 1) { db, _ in try copy.recover(db, choosing: choice) }
                    try Migrator([recovery]).migrate(db)
                }
                let recovered = try SQLiteConnection(path: path)
                #expect(try recovered.query("SELECT * FROM note") == rows)
                #expect(try copy.state(in: recovered) == .none)
            }
        }
    }

    @Test(arguments: [false, true])
    func `a recovery that adds a row that refers to a missing row is refused`(isStaged: Bool) throws {
        let path = TemporaryDirectory.current.file("store")
        let db = try SQLiteConnection(path: path)
        try db.execute(
            script: """
                CREATE TABLE note (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES note);
                CREATE TABLE attachment (id INTEGER PRIMARY KEY, note INTEGER REFERENCES note);
                INSERT INTO note VALUES (1, NULL), (2, 99); INSERT INTO attachment VALUES (1, 1), (2, 2);
                ALTER TABLE note RENAME TO note_bak;
                CREATE TABLE note (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES note);
                """
        )
        try db.query("PRAGMA foreign_keys = ON")
        let error = try sqlError {
            if !isStaged { return _ = try copy.recover(db, choosing: .table) }
            try SQLiteStore(path: path).migrateStaged { _ = try copy.recover($0, choosing: .table) }
        }
        #expect(error.code == .foreignKeyViolation)
    }

    @Test(arguments: ["fts4(content=\"note\", title)", "fts5(title, content='note', content_rowid='id')"])
    func `a full-text index of the table finds its rows again`(index: String) throws {
        let db = try database(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT);
            CREATE VIRTUAL TABLE found USING \(index);
            CREATE TRIGGER filled AFTER INSERT ON note BEGIN INSERT INTO found (rowid, title) VALUES (new.id, new.title); END;
            INSERT INTO note VALUES (1, 'one'), (2, 'two');
            ALTER TABLE note RENAME TO note_bak;
            """
        )
        try copy.recover(db)
        try db.query("INSERT INTO note VALUES (3, 'three')")
        #expect(
            try db.query("SELECT title FROM found WHERE found MATCH 'two OR three' ORDER BY rowid") == [
                ["two"], ["three"],
            ]
        )
    }

    @Test(arguments: [
        ("it's", "it's_bak"), ("a \"b\"", "the old \"one\""), ("Émile", "émile_bak"), ("Note", "NOTE_BAK"),
    ])
    func `every name is taken as it is`(table: String, backup: String) throws {
        let (new, old) = (
            "\"\(table.replacing("\"", with: "\"\""))\"", "\"\(backup.replacing("\"", with: "\"\""))\""
        )
        let db = try database(
            """
            CREATE TABLE \(new) (x PRIMARY KEY); CREATE TABLE child (x REFERENCES \(new)); CREATE VIEW seen AS SELECT x FROM \(new);
            INSERT INTO \(new) VALUES (1), (2); INSERT INTO child VALUES (2);
            ALTER TABLE \(new) RENAME TO \(old); CREATE TABLE \(new) (x PRIMARY KEY, y); CREATE TABLE "\(table.replacing("\"", with: "\"\""))_kept" (z);
            """
        )
        let copy = InterruptedTableCopy(of: table, backup: backup)
        #expect(try copy.recover(db, choosing: .backup) == .subset)
        #expect(try db.query("SELECT x FROM seen") == [[1], [2]])
        #expect(try db.query("PRAGMA foreign_key_check").isEmpty)
        #expect(
            try db.query("SELECT count(*) FROM \"\(table.replacing("\"", with: "\"\""))_kept_2\"") == [[0]]
        )
    }

    @Test func `in a transaction with foreign keys on nothing is done`() throws {
        let db = try database(Self.old + Self.rename)
        try db.query("BEGIN")
        #expect(try sqlError { try copy.recover(db) }.code == .refusedSchemaChange)
        try db.query("COMMIT")
        #expect(try copy.recover(db) == .backupOnly)
    }
}
