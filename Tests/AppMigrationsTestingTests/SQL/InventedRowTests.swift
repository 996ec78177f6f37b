import AppMigrationsSQLite
import AppMigrationsTesting
import TestSupport
import Testing

/// A rehearsal from a release in which no table has a row: it invents one, as each user has some.
@Suite(.temporaryDirectory) struct InventedRowTests {
    let folder = TemporaryDirectory.current.path

    private func memory() throws -> SQLiteConnection { try SQLiteConnection(path: ":memory:") }

    /// Records a release with the first script, adds `rows` to the record, and rehearses both scripts.
    private func rehearse(
        _ first: String,
        _ second: String,
        adding rows: String = "",
        ignoring tables: [String] = [],
        foreignKeys: Bool = false
    ) throws -> RehearsalReport {
        let records = folder + "/Releases"
        let first = SQLiteMigration(version: 1, sql: first)
        try SQLRehearsal(of: SQLiteMigrator([first]), releasesIn: records).record("1.0", opening: memory)
        if !rows.isEmpty { try append(rows, to: "Releases/1.0.sql", in: folder) }
        let migrator = try SQLiteMigrator([first, SQLiteMigration(version: 2, sql: second)])
        return try SQLRehearsal(of: migrator, releasesIn: records, ignoring: tables).run {
            let db = try memory()
            if foreignKeys { try db.query("PRAGMA foreign_keys = ON") }
            return db
        }
    }

    private static let note = "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, seen INT)"

    @Test(
        arguments: [
            ("ALTER TABLE note ADD COLUMN stars INT NOT NULL", "Cannot add a NOT NULL column"),
            ("ALTER TABLE note ADD COLUMN created TEXT DEFAULT CURRENT_TIMESTAMP", "non-constant default"),
            ("ALTER TABLE note ADD COLUMN long INT AS (length(title)) STORED", "cannot add a STORED column"),
            (
                """
                CREATE TABLE n(id INTEGER PRIMARY KEY, title TEXT NOT NULL, seen INT); INSERT INTO n SELECT * FROM note;
                DROP TABLE note; ALTER TABLE n RENAME TO note
                """,
                "NOT NULL constraint failed: n.title"
            ),
        ]
    )
    func `a migration that fails where there is a row is found`(change: String, message: String) throws {
        let report = try rehearse(Self.note, change)
        #expect(report.findings.map(\.kind) == [.failed])
        let text = try #require(report.findings.first).description
        #expect(text.hasPrefix("From 1.0: Migration 2: ") && text.contains(message), "\(text)")
        #expect(
            text.hasSuffix(
                " The record of 1.0 has no row in note, so the rehearsal has invented one. If no user can have such a"
                    + " row, add a real row to the record."
            )
        )
        #expect(report.runs.map(\.tablesWithInventedRow) == [[], ["note"]])
    }

    @Test func `a row of the record is used instead`() throws {
        let change = """
            CREATE TABLE n(id INTEGER PRIMARY KEY, title TEXT NOT NULL, seen INT); INSERT INTO n SELECT * FROM note;
            DROP TABLE note; ALTER TABLE n RENAME TO note
            """
        let report = try rehearse(Self.note, change, adding: "INSERT INTO note VALUES (1, 'one', 1);")
        try report.requireClean()
        #expect(report.runs.map(\.tablesWithInventedRow) == [[], []])
        #expect(!report.description.contains("invented"))
    }

    /// Tables that a row is invented for, although their columns need values.
    private static let tables = [
        "CREATE TABLE t(a)",
        "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT)",
        "CREATE TABLE t(a TEXT NOT NULL, b INT NOT NULL, c BLOB NOT NULL, d REAL NOT NULL, e NOT NULL, f DATE NOT NULL)",
        "CREATE TABLE t(a TEXT NOT NULL, b INT NOT NULL, c BLOB NOT NULL, d REAL NOT NULL, e ANY NOT NULL) STRICT",
        "CREATE TABLE t(a TEXT, b INT, PRIMARY KEY (a, b)) WITHOUT ROWID",
        "CREATE TABLE t(\"a \"\"b\" TEXT NOT NULL, c AS (1) STORED NOT NULL, d AS (2) NOT NULL)",
        "CREATE TABLE t(kind TEXT NOT NULL CHECK (kind IN ('work', 'home')), n INT NOT NULL CHECK (n BETWEEN 7 AND 9))",
        "CREATE TABLE t(flag BOOLEAN NOT NULL CHECK (flag IN (0, 1)), json TEXT NOT NULL CHECK (json_valid(json)))",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, parent INT NOT NULL REFERENCES t)",
        "CREATE TABLE t(p INT NOT NULL REFERENCES z); CREATE TABLE z(id INTEGER PRIMARY KEY)",
        "CREATE TABLE t(p INT PRIMARY KEY REFERENCES z(k)); CREATE TABLE z(id INTEGER PRIMARY KEY, k INT NOT NULL UNIQUE)",
        """
        CREATE TABLE t(p, q, FOREIGN KEY (p, q) REFERENCES z, PRIMARY KEY (p, q));
        CREATE TABLE z(a TEXT, b INT, PRIMARY KEY (a, b)) WITHOUT ROWID
        """,
    ]

    @Test(arguments: tables, [false, true])
    func `a row is invented that the constraints accept`(script: String, foreignKeys: Bool) throws {
        let check = """
            CREATE TABLE counted(n INT NOT NULL); INSERT INTO counted SELECT count(*) FROM t;
            CREATE TABLE one(n CHECK (n = 1)); INSERT INTO one SELECT n FROM counted WHERE n <> 0; DROP TABLE counted
            """
        let report = try rehearse(script, check, foreignKeys: foreignKeys)
        try report.requireClean()
        #expect(report.runs[1].tablesWithInventedRow.contains("t"))
        #expect(report.runs[1].tablesWithoutRow == [])
    }

    @Test func `what is no table of the app gets no row`() throws {
        let script = """
            CREATE TABLE alembic_version(version_num NOT NULL); CREATE TABLE tracker(a); CREATE TABLE app_migrations(manager);
            CREATE TABLE note(body); CREATE VIRTUAL TABLE words USING fts5(body, content='note'); CREATE VIEW v AS SELECT 1
            """
        let report = try rehearse(script, "SELECT 1", ignoring: ["Tracker"])
        #expect(report.runs[1].tablesWithInventedRow == ["note"])
        #expect(report.description.hasSuffix("\n1.0: a row was invented in note"))
    }

    @Test func `a table for which no row can be invented is named, and is no finding`() throws {
        let script = """
            CREATE TABLE note(a NOT NULL CHECK (length(a) = 33)); CREATE TABLE full(a);
            CREATE TRIGGER filled BEFORE INSERT ON full BEGIN SELECT RAISE(ABORT, 'full'); END
            """
        let report = try rehearse(script, "SELECT 1")
        try report.requireClean()
        #expect(report.runs[1].tablesWithInventedRow == [])
        #expect(
            report.runs[1].tablesWithoutRow == [
                "note (CHECK constraint failed: length(a) = 33)", "full (full)",
            ]
        )
        #expect(
            report.description.hasSuffix(
                "\n1.0: no row could be invented in note (CHECK constraint failed: length(a) = 33), full (full). Add one to"
                    + " the record"
            )
        )
    }

    @Test(
        arguments: [
            (
                "CREATE TRIGGER unseen AFTER INSERT ON note BEGIN UPDATE note SET seen = 0 WHERE id = new.id; END",
                "the trigger unseen doesn't compile: no such column: seen. So each INSERT of note would fail."
            ),
            (
                "CREATE TRIGGER unseen BEFORE UPDATE OF title ON note BEGIN INSERT INTO note(seen) VALUES (1); END",
                "the trigger unseen doesn't compile: table note has no column named seen. So each UPDATE of note would fail."
            ),
            (
                """
                CREATE TRIGGER a AFTER DELETE ON note BEGIN UPDATE note SET seen = 0; END;
                CREATE TRIGGER b AFTER DELETE ON note BEGIN SELECT 1; END
                """,
                "one of the triggers a, b doesn't compile: no such column: seen. So each DELETE of note would fail."
            ),
            (
                """
                CREATE VIEW v AS SELECT title FROM note;
                CREATE TRIGGER unseen INSTEAD OF UPDATE ON v BEGIN UPDATE note SET seen = 0; END
                """,
                "the trigger unseen doesn't compile: no such column: seen. So each UPDATE of v would fail."
            ),
        ]
    )
    func `a trigger that a migration breaks is found`(trigger: String, sentence: String) throws {
        let report = try rehearse("\(Self.note); \(trigger)", "ALTER TABLE note DROP COLUMN seen")
        // A new database has the same fault, so it is told once.
        #expect(report.runs.map { $0.findings.map(\.kind) } == [[.failed], []])
        #expect(
            try #require(report.findings.first).description
                == "In a new database: \(sentence) Drop it, or create it again, in the migration that changes what it uses."
        )
    }

    @Test func `a view that a migration breaks is found, and a missing function is no fault`() throws {
        let views = "CREATE VIEW v AS SELECT seen FROM note; CREATE VIEW w AS SELECT app(1) FROM note"
        let report = try rehearse("\(Self.note); \(views)", "DROP TABLE note; CREATE TABLE note(id)")
        #expect(
            report.findings.map(\.description) == [
                "In a new database: the view v doesn't compile: no such column: seen. Drop it, or create it again, in the"
                    + " migration that changes what it uses."
            ]
        )
    }

    @Test func `a trigger that only an older release has is found`() throws {
        let trigger = "CREATE TRIGGER unseen AFTER INSERT ON note BEGIN UPDATE note SET seen = 0; END;"
        let report = try rehearse(Self.note, "ALTER TABLE note DROP COLUMN seen", adding: trigger)
        #expect(report.findings.map(\.kind) == [.failed, .startsDiffer])
        #expect(
            try #require(report.findings.first).description.hasPrefix(
                "From 1.0: the trigger unseen doesn't compile: "
            )
        )
    }
}
