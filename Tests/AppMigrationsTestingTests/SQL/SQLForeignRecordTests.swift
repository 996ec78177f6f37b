import AppMigrationsSQLite
import AppMigrationsTesting
import Foundation
import TestSupport
import Testing

/// Records of databases that other libraries made, as "Testing your migrations" has the sqlite3 program write them.
@Suite(.temporaryDirectory) struct SQLForeignRecordTests {
    let folder = TemporaryDirectory.current.path

    private let scripts = [
        "CREATE TABLE note(id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT)", "CREATE TABLE tag(name TEXT)",
        "ALTER TABLE note ADD COLUMN color TEXT",
    ]

    /// The database that a library left after the first two texts.
    private func makeLibrary(_ folder: String, ledger: String) throws {
        let db = try SQLiteConnection(path: folder + "/library.sqlite")
        try db.execute(
            script: "\(scripts[0]); \(scripts[1]); INSERT INTO note(title) VALUES ('It''s'); \(ledger)"
        )
        db.close()
        try TemporaryDirectory.current.makeFolder("Releases")
    }

    private let fmdb = """
        CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
        INSERT INTO schema_migrations VALUES (1), (2)
        """

    private let schemaWithNumber = """
        sqlite3 library.sqlite ".schema --nosys" > 1.0.sql
        echo "PRAGMA user_version = 2;" >> 1.0.sql
        """

    private func shell(_ commands: String, in folder: String) throws {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-ec", commands]
        shell.currentDirectoryURL = URL(filePath: folder)
        try shell.run()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0)
        let from = folder + "/1.0.sql"
        try FileManager.default.moveItem(atPath: from, toPath: folder + "/Releases/1.0.sql")
    }

    private func report(
        _ folder: String,
        ignoring tables: [String] = [],
        preparing prepare: (SQLiteConnection, SQLiteMigrator) throws -> Void = { _, _ in }
    ) throws -> RehearsalReport {
        let migrator = try SQLiteMigrator(SQLiteMigration.numbered(scripts))
        try ReleasedMigrations(file: folder + "/Releases/migrations.lock").record(migrator)
        return try SQLRehearsal(of: migrator, releasesIn: folder + "/Releases", ignoring: tables).run(
            opening: { try SQLiteConnection(path: ":memory:") },
            preparing: { try prepare($0, migrator) }
        )
    }

    @Test func `a dump has the ledger of FMDBMigrationManager`() throws {
        try makeLibrary(folder, ledger: fmdb)
        try shell("sqlite3 library.sqlite .dump > 1.0.sql", in: folder)
        let report = try report(folder)
        try report.requireClean()
        #expect(report.runs.map(\.ran) == [["1", "2", "3"], ["3"]])
    }

    @Test func `a schema gets the number that sModel left`() throws {
        try makeLibrary(folder, ledger: "PRAGMA user_version = 2")
        try shell(schemaWithNumber, in: folder)
        let report = try report(folder) { db, migrator in
            try migrator.markApplied(upTo: db.userVersion, in: db)
        }
        try report.requireClean()
        #expect(report.runs.map(\.ran) == [["1", "2", "3"], ["3"]])
    }

    @Test func `another library's table is left out with what belongs to it, and the finding says how`()
        throws
    {
        let tracker = """
            CREATE TABLE _sModel_DBDefTracker(file TEXT);
            CREATE INDEX tracked ON _sModel_DBDefTracker(file);
            CREATE TRIGGER tracking AFTER INSERT ON _sModel_DBDefTracker BEGIN SELECT 1; END;
            """
        try makeLibrary(folder, ledger: "\(tracker) PRAGMA user_version = 2")
        try shell(schemaWithNumber, in: folder)
        func report(ignoring tables: [String]) throws -> RehearsalReport {
            try self.report(folder, ignoring: tables) { try $1.markApplied(upTo: $0.userVersion, in: $0) }
        }
        let found = try report(ignoring: []).findings
        #expect(found.map(\.kind) == [.startsDiffer, .startsDiffer, .startsDiffer])
        #expect(
            found.first?.description
                == "From 1.0: the database has the table _sModel_DBDefTracker, which a new database doesn't have. "
                + "A migration of the release created something different at the time. Restore its released text, and "
                + "put the change in a new migration. If it wasn't created by a migration but, for example, by another "
                + #"library, add "_sModel_DBDefTracker" to ignoring:. If a migration has moved rows into it, test the "#
                + "rows too: a rehearsal doesn't compare them."
        )
        let advice = #"add "_sModel_DBDefTracker" to ignoring:."#
        #expect(found.allSatisfy { $0.description.contains(advice) })
        try report(ignoring: ["_SMODEL_DBDefTracker"]).requireClean()
        try append("DROP TABLE tag;", to: "Releases/1.0.sql", in: folder)
        #expect(try report(ignoring: ["_sModel_DBDefTracker"]).findings.count == 1)
        try report(ignoring: ["_sModel_DBDefTracker", "tag"]).requireClean()
    }

    @Test func `the ledger of another tool is left out, in a record and in a new database`() throws {
        let ledger = "CREATE TABLE alembic_version(version_num VARCHAR(32) NOT NULL)"
        try makeLibrary(folder, ledger: "\(fmdb); \(ledger)")
        try shell("sqlite3 library.sqlite .dump > 1.0.sql", in: folder)
        try report(folder).requireClean()
        try report(folder) { db, _ in
            if try db.query("SELECT 1 FROM sqlite_master").isEmpty { try db.query(ledger) }
        }.requireClean()
    }

    @Test(arguments: [true, false])
    func `a record with tables and without a version says what is missing`(hasTables: Bool) throws {
        try makeLibrary(folder, ledger: fmdb)
        let schema = hasTables ? ".schema --nosys" : ".schema --nosys schema_migrations"
        try shell("sqlite3 library.sqlite '\(schema)' > 1.0.sql", in: folder)
        let report = try report(folder) { db, _ in
            if !hasTables { try db.query("CREATE VIEW note AS SELECT 1 AS id") }
        }
        // Without tables the preparation has both databases fail.
        #expect(report.findings.map(\.kind) == (hasTables ? [.failed] : [.failed, .failed]))
        #expect(
            report.findings.last?.description.hasSuffix(
                " The schema recorded for 1.0 has tables, but no row in its ledger schema_migrations. So the"
                    + " migrations of the release were run a second time. Record the rows of the ledger, too. If your app"
                    + " calls markApplied with PRAGMA user_version, record that number, and make the same call in"
                    + " preparing:."
            ) == hasTables
        )
    }
}
