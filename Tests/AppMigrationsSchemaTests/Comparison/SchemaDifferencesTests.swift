import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

/// The two descriptions of one schema, migrations and target, held against each other.
@Suite struct SchemaDifferencesTests {
    private let migrations = Migration.numbered([
        "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT)",
        "ALTER TABLE note ADD COLUMN color TEXT; CREATE INDEX note_by_title ON note(title)",
    ])

    @Test(arguments: ["schema_migrations", "Steps"])
    func `nothing differs where both agree, however they are written`(ledger: String) throws {
        let target = """
            create table "note" (id INTEGER PRIMARY KEY, title TEXT, color TEXT); -- one for each note
            CREATE INDEX note_by_title ON note (title);
            """
        #expect(try Migrator(migrations, ledger: ledger).schemaDifferences(from: target) == [])
    }

    @Test(
        arguments: [
            (
                "CREATE TABLE note(id INTEGER PRIMARY KEY, color TEXT, title TEXT);"
                    + " CREATE INDEX note_by_title ON note(title);",
                [
                    "The migrations make a different table note: …NTEGER PRIMARY KEY, title TEXT, color TEXT)"
                        + " and not …NTEGER PRIMARY KEY, color TEXT, title TEXT)."
                ]
            ),
            (
                "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, color TEXT); CREATE VIEW v AS SELECT 1",
                [
                    "The migrations make no view v.",
                    "The migrations make the index note_by_title, which the target doesn't have.",
                ]
            ),
            (
                "CREATE TABLE app(x)",
                [
                    "The migrations make no table app.",
                    "The migrations make the table note, which the target doesn't have.",
                    "The migrations make the index note_by_title, which the target doesn't have.",
                ]
            ),
        ]
    ) func `each object that differs is said in words`(target: String, differences: [String]) throws {
        #expect(try Migrator(migrations).schemaDifferences(from: target) == differences)
    }

    @Test func `what the database had before counts, and a ledger that the target makes`() throws {
        let db = try memory()
        try db.query("CREATE TABLE left(x)")
        let target = """
            CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, color TEXT);
            CREATE INDEX note_by_title ON note(title);
            CREATE TABLE schema_migrations(version INTEGER);
            """
        let differences = try Migrator(migrations).schemaDifferences(from: target, in: db)
        #expect(differences.count == 2)
        #expect(
            differences.first?.hasPrefix("The migrations make a different table schema_migrations: ") == true
        )
        #expect(differences.last == "The migrations make the table left, which the target doesn't have.")
    }

    @Test func `a table of the app with the name of a shadow table counts`() throws {
        let index = "CREATE VIRTUAL TABLE note USING fts5(body, content='note_content', content_rowid='id');"
        let migrations = Migration.numbered([
            "CREATE TABLE note_content(id INTEGER PRIMARY KEY, body TEXT); \(index)"
        ])
        let target = "CREATE TABLE note_content(id INTEGER PRIMARY KEY, body TEXT, lang TEXT); \(index)"
        #expect(
            try Migrator(migrations).schemaDifferences(from: target) == [
                "The migrations make a different table note_content: …IMARY KEY, body TEXT)"
                    + " and not …IMARY KEY, body TEXT, lang TEXT)."
            ]
        )
    }

    @Test func `a migration or a target that is wrong is an error`() throws {
        let wrong = try Migrator([Migration(version: 1, sql: "CREATE TABLE")])
        #expect(try sqlError { try wrong.schemaDifferences(from: "") }.version == 1)
        let target = "CREATE TABLE note(x); INSERT INTO note VALUES (1)"
        let error = try sqlError { try Migrator(migrations).schemaDifferences(from: target) }
        #expect(error.code == .refusedSchemaChange)
        #expect(try sqlError { try Migrator(migrations).schemaDifferences(from: "CREATE") }.line == 1)
    }
}
