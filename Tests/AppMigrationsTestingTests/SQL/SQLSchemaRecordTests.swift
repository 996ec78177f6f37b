import AppMigrations
import AppMigrationsSQLite
import AppMigrationsSchema
import AppMigrationsTesting
import Foundation
import TestSupport
import Testing

/// A recorded schema is the one that was there, whatever stands in it.
@Suite(.temporaryDirectory) struct SQLSchemaRecordTests {
    let folder = TemporaryDirectory.current.path

    private let script = """
        CREATE TABLE child(id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES parent(id));
        CREATE TABLE parent(id INTEGER PRIMARY KEY AUTOINCREMENT, "a b" TEXT UNIQUE, twice AS (id * 2), real REAL, data BLOB);
        CREATE VIEW both AS SELECT * FROM child JOIN parent ON parent = parent.id;
        CREATE TRIGGER changed AFTER UPDATE ON parent BEGIN DELETE FROM child; SELECT 1; END;
        CREATE TRIGGER seen INSTEAD OF DELETE ON both BEGIN SELECT 1; END;
        CREATE INDEX by_text ON parent("a b" DESC) WHERE id > 1;
        CREATE TABLE pair(a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
        CREATE VIEW noted AS SELECT 1 -- so far
        ;
        CREATE VIRTUAL TABLE words USING fts5(data, content='parent', content_rowid='id');
        INSERT INTO pair VALUES (1, 'x');
        """

    @Test(arguments: [false, true])
    func `a starting point has the schema and the rows of its release`(hasForeignKeys: Bool) throws {
        let migration = SQLiteMigration(version: 1) { db, _ in
            try db.execute(script: script)
            try db.query(
                "INSERT INTO parent(id, \"a b\", real, data) VALUES (7, ?, ?, ?)",
                ["It's\r\n\0;", .real(-.infinity), .blob([0, 255])]
            )
            try db.query("INSERT INTO child VALUES (1, 7)")
        }
        let wanted = folder + "/wanted"
        let rehearsal = try SQLRehearsal(of: SQLiteMigrator([migration]), releasesIn: folder)
        try rehearsal.record("2.1") { try open(wanted, hasForeignKeys) }
        let record = try read("2.1.sql", in: folder)
        #expect(!record.contains("INSERT INTO \"words\""))
        let point = StartingPoint.schema("2.1", recordedIn: folder + "/2.1.sql") {
            try open($0 + "/db", hasForeignKeys)
        }
        let report = try Rehearsal(currentVersion: "2.2", from: [point]).run { migrations, data in
            try migrations.whenMigrating(toVersion: "2.2") { try check(data + "/db", wanted) }
        }
        try report.requireClean()
        let again = try rehearsal.run(opening: { try open(":memory:", hasForeignKeys) }) { db in
            try check(db, hasForeignKeys)
        }
        try again.requireClean()
    }

    private func open(_ path: String, _ hasForeignKeys: Bool) throws -> SQLiteConnection {
        let db = try SQLiteConnection(path: path)
        if hasForeignKeys { try db.query("PRAGMA foreign_keys = ON") }
        return db
    }

    private func check(_ db: SQLiteConnection, _ hasForeignKeys: Bool) throws {
        #expect(try db.query("PRAGMA foreign_keys") == [[hasForeignKeys ? 1 : 0]])
    }

    private func check(_ found: String, _ wanted: String) throws {
        #expect(try SQLiteComparison().difference(expected: wanted, found: found) == nil)
    }

    private static let tables = """
        CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT);
        CREATE TABLE log(note INTEGER PRIMARY KEY, title TEXT);
        CREATE TABLE counter(total INTEGER);
        CREATE VIRTUAL TABLE words USING fts5(title);
        INSERT INTO counter VALUES (0);
        """

    @Test(arguments: [
        // One trigger for each table.
        """
        CREATE TRIGGER logged AFTER INSERT ON note BEGIN INSERT INTO log VALUES (new.id, new.title); END;
        CREATE TRIGGER indexed AFTER INSERT ON note
            BEGIN INSERT INTO "Words"(rowid, title) VALUES (new.id, new.title); END;
        """,
        // One trigger for an index and two ordinary tables.
        """
        CREATE TRIGGER noted AFTER INSERT ON note WHEN new.title <> ';' BEGIN
            SELECT RAISE(IGNORE) WHERE new.title = 'hidden';
            INSERT OR REPLACE INTO log VALUES (new.id, new.title);
            INSERT OR IGNORE INTO words(rowid, title) VALUES (new.id, new.title); -- the index;
            UPDATE OR FAIL counter SET total = total + CASE WHEN new.id > 0 THEN 1 END;
            DELETE FROM log WHERE note < 0;
        END;
        INSERT INTO note VALUES (3, ';'), (4, 'hidden');
        """,
        // The index is filled from the table that the same trigger fills.
        """
        CREATE TRIGGER noted AFTER INSERT ON note BEGIN
            REPLACE INTO log VALUES (new.id, new.title);
            INSERT INTO words(rowid, title) SELECT note, title FROM log WHERE note = new.id;
        END;
        """,
        // A name is a keyword of triggers, and a condition reads a table.
        """
        CREATE TABLE span("begin" INTEGER);
        INSERT INTO span VALUES (1);
        CREATE TRIGGER begin INSERT ON note WHEN (SELECT begin FROM span) > 0 BEGIN
            UPDATE counter SET total = total + 1;
            INSERT INTO words(rowid, title) VALUES (new.id, new.title);
        END;
        """,
        // The index is filled by the trigger of a table that another trigger fills.
        """
        CREATE VIRTUAL TABLE titles USING fts5(title);
        CREATE TRIGGER noted AFTER INSERT ON note BEGIN
            INSERT INTO log VALUES (new.id, new.title);
            INSERT INTO titles(rowid, title) VALUES (new.id, new.title);
        END;
        CREATE TRIGGER indexed AFTER INSERT ON log BEGIN
            INSERT INTO words(rowid, title) VALUES (new.note, new.title);
            UPDATE counter SET total = total + 1;
        END;
        """,
        // The index is only read.
        """
        CREATE TRIGGER indexed AFTER INSERT ON note
            BEGIN INSERT INTO words(rowid, title) VALUES (new.id, new.title); END;
        CREATE TRIGGER logged AFTER INSERT ON note BEGIN
            SELECT RAISE(ABORT, 'logged') WHERE EXISTS (SELECT 1 FROM log WHERE note = new.id);
            INSERT INTO log SELECT new.id, max(title) FROM words;
        END;
        """,
        // Another column of the row is set, which runs the trigger for updates.
        """
        CREATE TRIGGER noted AFTER INSERT ON note BEGIN
            INSERT INTO words(rowid, title) VALUES (new.id, new.title);
            UPDATE note SET title = title || ' and bread' WHERE id = new.id;
        END;
        CREATE TRIGGER changed AFTER UPDATE OF title ON note BEGIN
            INSERT INTO log VALUES (new.id, new.title);
            DELETE FROM words WHERE rowid = old.id;
            INSERT INTO words(rowid, title) VALUES (new.id, new.title);
        END;
        """,
        // The rows are inserted into a view.
        """
        CREATE TRIGGER indexed AFTER INSERT ON note
            BEGIN INSERT INTO words(rowid, title) VALUES (new.id, new.title); END;
        CREATE VIEW shown AS SELECT * FROM note;
        CREATE TRIGGER added INSTEAD OF INSERT ON shown BEGIN
            INSERT INTO note VALUES (new.id, new.title);
            UPDATE words SET title = new.title WHERE rowid = new.id;
            UPDATE counter SET total = total + 1;
        END;
        INSERT INTO shown VALUES (8, 'Wine');
        """,
        // The trigger of a view fills the index, after the trigger of another view.
        """
        CREATE VIEW listed AS SELECT * FROM note;
        CREATE VIEW shown AS SELECT * FROM note;
        CREATE TRIGGER noted AFTER INSERT ON note BEGIN INSERT INTO listed VALUES (new.id, new.title); END;
        CREATE TRIGGER listing INSTEAD OF INSERT ON listed BEGIN
            UPDATE counter SET total = total + 1;
            INSERT INTO shown VALUES (new.id, new.title);
        END;
        CREATE TRIGGER showing INSTEAD OF INSERT ON shown BEGIN
            INSERT INTO log VALUES (new.id, new.title);
            INSERT INTO words(rowid, title) VALUES (new.id, new.title);
        END;
        """,
        // The trigger of a view fills the index from rows that it has written to another table.
        """
        CREATE VIEW shown AS SELECT * FROM note;
        CREATE TRIGGER noted AFTER INSERT ON note BEGIN INSERT INTO shown VALUES (new.id, new.title); END;
        CREATE TRIGGER showing INSTEAD OF INSERT ON shown BEGIN
            INSERT INTO log VALUES (new.id, new.title);
            INSERT INTO words(rowid, title) SELECT note, title FROM log WHERE note = new.id;
        END;
        """,
    ])
    func `recorded rows fill the virtual tables, and no trigger writes to an ordinary table`(
        triggers: String
    ) throws {
        let script = "\(Self.tables) \(triggers) INSERT INTO note VALUES (7, 'Milk and bread');"
        let migrator = try SQLiteMigrator([SQLiteMigration(version: 1, sql: script)])
        let rehearsal = SQLRehearsal(of: migrator, releasesIn: folder)
        let wanted = folder + "/wanted"
        try rehearsal.record("2.1") { try open(wanted, false) }
        let point = StartingPoint.schema("2.1", recordedIn: folder + "/2.1.sql") {
            try open($0 + "/db", false)
        }
        let report = try Rehearsal(currentVersion: "2.2", from: [point]).run { migrations, data in
            try migrations.whenMigrating(toVersion: "2.2") {
                let path = data + "/db"
                try check(path, wanted)
                let sql = "SELECT rowid, title FROM words WHERE words MATCH 'bread OR wine' ORDER BY rowid"
                let found = try open(path, false).query(sql)
                #expect(try found == open(wanted, false).query(sql))
                #expect(found.contains { $0[0] == 7 })
            }
        }
        try report.requireClean()
        try rehearsal.run { try open(":memory:", false) }.requireClean()
    }

    @Test func `a record that isn't there is an error`() throws {
        let point = StartingPoint.schema("2.1", recordedIn: folder + "/2.1.sql") { _ in
            try SQLiteConnection(path: ":memory:")
        }
        let error = #expect(throws: RehearsalFinding.self) {
            try Rehearsal(currentVersion: "2.2", from: [point]).run { _, _ in }
        }
        #expect(
            error?.description
                == "There is no recorded schema \(folder)/2.1.sql. Record it, or restore the file."
        )
    }
}
