import AppMigrations
import AppMigrationsSQL
import AppMigrationsSQLite
import AppMigrationsTesting
import Foundation
import TestSupport
import Testing

/// Migrations from the schema of each release to the newest.
@Suite(.temporaryDirectory) struct SQLRehearsalTests {
    let folder = TemporaryDirectory.current.path

    private let first = SQLiteMigration(
        version: 1,
        name: "notes",
        sql: "CREATE TABLE note(id INTEGER PRIMARY KEY)"
    )
    private let second = SQLiteMigration(version: 2, sql: "ALTER TABLE note ADD COLUMN title TEXT")
    private let third = SQLiteMigration(
        version: 3,
        name: "index",
        sql: "CREATE INDEX note_by_title ON note(title); INSERT INTO note VALUES (1, 'It''s')"
    )

    private func rehearsal(_ folder: String, _ migrations: SQLiteMigration...) throws
        -> SQLRehearsal<SQLiteConnection>
    {
        try SQLRehearsal(of: SQLiteMigrator(migrations), releasesIn: folder + "/Releases")
    }

    private func memory() throws -> SQLiteConnection { try SQLiteConnection(path: ":memory:") }

    @Test func `every released schema becomes that of a new database`() throws {
        try rehearsal(folder, first).record("1.2", opening: memory)
        try rehearsal(folder, first, second).record("1.10", opening: memory)
        let report = try rehearsal(folder, first, second, third).run(opening: memory)
        try report.requireClean()
        #expect(report.declaredVersions == ["1", "2", "3"])
        #expect(report.runs.map(\.start) == ["new database", "1.2", "1.10"])
        #expect(report.runs.map(\.ran) == [["1", "2", "3"], ["2", "3"], ["3"]])
        let lines = report.description.split(separator: "\n").map(String.init)
        #expect(lines[0] == "Rehearsal of SQL migrations 3: 3 runs, 0 findings")
        #expect(lines[1].hasPrefix("start         ran    time  ") && lines[1].hasSuffix("  outcome"))
        #expect(lines[3].hasPrefix("1.2           2 3    "))
        #expect(lines[4].hasSuffix("  same"))
    }

    @Test func `the record is the schema, the ledger and the rows that migrations made`() throws {
        let rehearsal = try rehearsal(folder, first, second, third)
        try rehearsal.record("2.1", opening: memory)
        try rehearsal.record("2.1", opening: memory)
        let ledger = #""version", "name", "checksum""#
        #expect(
            try read("Releases/2.1.sql", in: folder) == """
                -- The schema of 2.1, created by its migrations in an empty database. Don't edit these statements.
                -- You may add rows at the end, for later migrations to work on.
                CREATE TABLE "schema_migrations" (
                    version INTEGER UNIQUE NOT NULL,
                    name TEXT,
                    checksum TEXT,
                    applied_at TEXT
                );
                CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT);
                CREATE INDEX note_by_title ON note(title);
                INSERT INTO "schema_migrations" (\(ledger)) VALUES (1, 'notes', 'fnv1a:ab680726b5549d6e');
                INSERT INTO "schema_migrations" (\(ledger)) VALUES (2, NULL, 'fnv1a:dec513f4b73774f1');
                INSERT INTO "schema_migrations" (\(ledger)) VALUES (3, 'index', 'fnv1a:48f15b673f1306a2');
                INSERT INTO "note" ("id", "title") VALUES (1, 'It''s');

                """
        )
        #expect(try read("Releases/migrations.lock", in: folder).contains("\n3 fnv1a:"))
    }

    @Test func `a release is recorded once`() throws {
        try rehearsal(folder, first).record("2.1", opening: memory)
        let error = #expect(throws: RehearsalFinding.self) {
            try rehearsal(folder, first, second).record("2.1", opening: memory)
        }
        #expect(error?.kind == .recordedOtherwise)
        #expect(error?.release == "2.1")
        #expect(
            error?.description
                == "2.1 is recorded with another schema in \(folder)/Releases/2.1.sql. Delete that file if 2.1 was "
                + "never released. Otherwise record the next release."
        )
        let lock = try read("Releases/migrations.lock", in: folder)
        #expect(!lock.contains("\n2 "))
        #expect(throws: MigrationError.self) { try rehearsal(folder, first).record("next", opening: memory) }
    }

    @Test func `an edited migration is found by the lock, and by the schema that it leaves`() throws {
        try rehearsal(folder, first, second).record("2.1", opening: memory)
        let edited = SQLiteMigration(
            version: 2,
            sql: "ALTER TABLE note ADD COLUMN title TEXT NOT NULL DEFAULT ''; CREATE VIEW v AS SELECT 1"
        )
        let report = try rehearsal(folder, first, edited).run(opening: memory)
        #expect(report.findings.map(\.kind) == [.changed, .startsDiffer, .startsDiffer])
        let advice =
            "A migration of the release created something different at the time. Restore its released text, and "
            + "put the change in a new migration."
        #expect(
            report.runs[1].findings.map(\.description) == [
                "From 2.1: the table note is …title TEXT ), but in a new database it is "
                    + "…title TEXT NOT NULL DEFAULT '' ). \(advice)",
                "From 2.1: there is no view v, which a new database has. \(advice)",
            ]
        )
        #expect(report.findings.last?.release == "2.1")
        #expect(
            report.description.hasSuffix("\n" + report.findings.map { "- \($0)" }.joined(separator: "\n"))
        )
        #expect(throws: RehearsalFinding.self) { try report.requireClean() }
        let fewer = try rehearsal(folder, first).run(opening: memory)
        #expect(fewer.findings.map(\.kind) == [.disappeared, .startsDiffer])
    }

    @Test func `a table of the app with the name of a shadow table is recorded and compared`() throws {
        func migration(_ columns: String) -> SQLiteMigration {
            SQLiteMigration(
                version: 1,
                sql: """
                    CREATE TABLE note_content(\(columns)); INSERT INTO note_content(id, body) VALUES (1, 'hello');
                    CREATE VIRTUAL TABLE note USING fts5(body, content='note_content', content_rowid='id');
                    """
            )
        }
        let columns = "id INTEGER PRIMARY KEY, body TEXT"
        let released = try rehearsal(folder, migration(columns))
        try released.record("2.1", opening: memory)
        let record = try read("Releases/2.1.sql", in: folder)
        #expect(record.contains("\nCREATE TABLE note_content(\(columns));\n"))
        #expect(record.hasSuffix("\nINSERT INTO \"note_content\" (\"id\", \"body\") VALUES (1, 'hello');\n"))
        #expect(!record.contains("note_data"))
        var connections = [SQLiteConnection]()
        try released.run {
            connections.append(try memory())
            return connections[connections.count - 1]
        }.requireClean()
        #expect(try connections.map { try $0.query("PRAGMA database_list").count } == [1, 1])
        let edited = try rehearsal(folder, migration(columns + ", lang TEXT")).run(opening: memory)
        #expect(edited.findings.map(\.kind) == [.changed, .startsDiffer])
        let difference =
            "the table note_content is …body TEXT ), but in a new database it is …body TEXT , lang TEXT )"
        #expect(edited.findings[1].description.contains(difference))
    }

    @Test func `how a text is written makes no difference`() throws {
        try rehearsal(folder, first).record("2.1", opening: memory)
        let record = try read("Releases/2.1.sql", in: folder)
        let own = #"create table "Note" ( id integer /* key */ PRIMARY KEY )"#
        try write(
            record.replacing("CREATE TABLE note(id INTEGER PRIMARY KEY)", with: own),
            to: "Releases/2.1.sql",
            in: folder
        )
        #expect(try rehearsal(folder, first).run(opening: memory).isClean)
    }

    @Test func `what fails is said with the release, and what ran before it`() throws {
        try rehearsal(folder, first).record("2.1", opening: memory)
        try append("INSERT INTO note VALUES (1);", to: "Releases/2.1.sql", in: folder)
        let report = try rehearsal(folder, first, second, third).run(opening: memory)
        #expect(report.findings.map(\.kind) == [.failed])
        #expect(report.runs.map(\.ran) == [["1", "2", "3"], ["2"]])
        #expect(
            report.findings[0].description.hasPrefix(
                "From 2.1: Migration 3 (index): line 1, column 44: UNIQUE constraint failed: note.id"
            )
        )
        let wrong = SQLiteMigration(version: 2, sql: "CREATE")
        let inNew = try rehearsal(folder, first, wrong).run(opening: memory).findings[0].description
        #expect(inNew.hasPrefix("In a new database: Migration 2: "))
        try append("CREATE", to: "Releases/2.1.sql", in: folder)
        let ofRecord = try rehearsal(folder, first).run(opening: memory).findings[0].description
        #expect(
            ofRecord.hasPrefix(
                "From 2.1: the database can't be created from \(folder)/Releases/2.1.sql: line "
            )
        )
    }

    @Test func `a folder without records is a finding, and other names are an error`() throws {
        let report = try rehearsal(folder, first).run(opening: memory)
        #expect(report.findings.map(\.kind) == [.notRehearsed, .notRehearsed])
        #expect(
            report.findings[1].description
                == "No release is recorded in \(folder)/Releases. Record the release that users have now."
        )
        try TemporaryDirectory.current.makeFolder("Releases")
        try write("", to: "Releases/schema.sql", in: folder)
        #expect(throws: MigrationError.self) { try rehearsal(folder, first).run(opening: memory) }
    }

    /// The path of a folder's URL ends with a slash.
    @Test func `a path with one slash too many is shown without it`() throws {
        let report = try rehearsal(folder + "/", first).run(opening: memory)
        let texts = report.findings.map(\.description)
        #expect(texts.contains { $0.contains(folder + "/Releases/migrations.lock") })
        #expect(texts.contains { $0.contains("recorded in \(folder)/Releases.") })
        #expect(!texts.contains { $0.contains("//") })
    }

    @Test func `a schema without a ledger gets its baseline from the app`() throws {
        let rehearsal = try rehearsal(folder, first, second)
        try rehearsal.record("2.0", opening: memory)
        try write(
            "CREATE TABLE note(id INTEGER PRIMARY KEY); PRAGMA user_version = 1;",
            to: "Releases/1.0.sql",
            in: folder
        )
        #expect(try rehearsal.run(opening: memory).findings.map(\.kind) == [.failed])
        let migrator = try SQLiteMigrator([first, second])
        let report = try rehearsal.run(opening: memory) {
            try migrator.markApplied(upTo: $0.userVersion, in: $0)
        }
        #expect(report.isClean)
        #expect(report.runs.map(\.ran) == [["1", "2"], ["2"], []])
    }

    @Test func `a database that isn't new is refused`() throws {
        let file = folder + "/db"
        try rehearsal(folder, first).record("2.1") { try SQLiteConnection(path: file) }
        let error = #expect(throws: RehearsalFinding.self) {
            try rehearsal(folder, first).run { try SQLiteConnection(path: file) }
        }
        #expect(
            error?.description
                == "The database that was opened isn't empty. Open a new database for each run, for example in memory."
        )
    }

    @Test func `a connection that is lent is used for the time of the call`() throws {
        func lend(_ body: (SQLiteConnection) throws -> Void) throws {
            let db = try memory()
            defer { db.close() }
            try body(db)
        }
        let rehearsal = try rehearsal(folder, first, second)
        try rehearsal.record("2.1", lending: lend)
        #expect(try rehearsal.run(lending: lend).runs.map(\.ran) == [["1", "2"], []])
        for body in [
            { try rehearsal.record("2.2") { _ in } }, { _ = try rehearsal.run(lending: { _ in }) },
        ] {
            let error = #expect(throws: RehearsalFinding.self) { try body() }
            #expect(
                error?.description
                    == "The closure lending: must call the closure that it receives, with a connection."
            )
        }
    }

    @Test func `another database than SQLite is told so`() throws {
        struct Postgres: SQLConnection {
            static var dialect: SQLDialect { .postgres }
            func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] { [] }
            func execute(script: String) throws {}
        }
        try withTemporaryFolder { folder throws in
            let migrator = try SQLMigrator<Postgres>([SQLMigration(version: 1, sql: "SELECT 1")])
            let rehearsal = SQLRehearsal(of: migrator, releasesIn: folder)
            let error = #expect(throws: RehearsalFinding.self) { try rehearsal.record("1.0") { Postgres() } }
            #expect(
                error?.description
                    == "Schemas are recorded and compared in SQLite only. ReleasedMigrations works with the migrations of any "
                    + "database."
            )
        }
    }

    @Test(arguments: ["", "# Released\n"])
    func `what the lock forgot, the ledger of a release tells`(lock: String) throws {
        let change = SQLiteMigration(version: 2, sql: "UPDATE note SET id = id + 1")
        try rehearsal(folder, first, change).record("1.0", opening: memory)
        try write(lock, to: "Releases/migrations.lock", in: folder)
        let edited = SQLiteMigration(version: 2, sql: "UPDATE note SET id = id + 2")
        let findings = try [
            rehearsal(folder, first, edited).run(opening: memory).findings,
            rehearsal(folder, first).run(opening: memory).findings,
        ]
        #expect(findings.map { $0.map(\.kind) } == [[.changed], [.disappeared]])
        #expect(findings.map { $0.map(\.version) } == [["2"], ["2"]])
        #expect(
            findings[0].first?.description
                == "From 1.0: migration 2 was edited after its release, and migrations.lock doesn't list it with its "
                + "released text. Restore the text of the migration, and its line in migrations.lock."
        )
        #expect(
            findings[1].first?.description
                == "From 1.0: migration 2 was released and is missing now, and migrations.lock has no line for it. "
                + "Restore the migration and its line."
        )
    }
}
