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

    @Test func `a trigger doesn't insert its rows again, except into a virtual table`() throws {
        let script = """
            CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT);
            CREATE TABLE log(note INTEGER PRIMARY KEY);
            CREATE VIRTUAL TABLE words USING fts5(title, content='note', content_rowid='id');
            CREATE TRIGGER logged AFTER INSERT ON note BEGIN INSERT INTO log VALUES (new.id); END;
            CREATE TRIGGER indexed AFTER INSERT ON note
                BEGIN INSERT INTO "Words"(rowid, title) VALUES (new.id, new.title); END;
            INSERT INTO note VALUES (7, 'Milk and bread');
            """
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
                let found = try open(path, false).query("SELECT rowid FROM words WHERE words MATCH 'bread'")
                #expect(found == [[7]])
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
