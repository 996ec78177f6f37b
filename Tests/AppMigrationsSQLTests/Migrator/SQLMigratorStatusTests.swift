import AppMigrationsSQLite
import Testing

@Suite struct SQLMigratorStatusTests {
    private func migrations(_ versions: Int64...) -> [Migration] {
        versions.map { Migration(version: $0, sql: "CREATE TABLE t\($0)(x)") }
    }

    @Test func `a new database has nothing but what is pending`() throws {
        let status = try Migrator(migrations(1, 2)).status(memory())
        #expect(!status.hasMigrationsTable)
        #expect(status.originVersion == nil)
        #expect(status.latestAppliedVersion == nil)
        #expect(status.applied == [])
        #expect(status.pending == [1, 2])
    }

    @Test func `every field tells its part`() throws {
        let db = try memory()
        try Migrator(migrations(2, 4, 6, 8)).migrate(db)
        let edited = Migration(version: 4, sql: "CREATE TABLE t4(x, y)")
        let migrator = try Migrator(migrations(2, 3, 8, 9) + [edited])
        let status = try migrator.status(db)
        #expect(status.hasMigrationsTable)
        #expect(status.originVersion == 2)
        #expect(status.latestAppliedVersion == 8)
        #expect(status.applied == [2, 4, 6, 8])
        #expect(status.pending == [3, 9])
        #expect(status.unknownVersions == [6])
        #expect(status.outOfOrder == [3])
        #expect(status.editedVersions == [4])
        let report = try migrator.migrate(db)
        #expect(report.applied == [3, 9])
        #expect(report.outOfOrder == [3])
        #expect(report.unknownVersions == [6])
        #expect(report.editedVersions == [4])
    }

    @Test(
        arguments: [
            ("SELECT 1;\nSELECT 2;\n", "SELECT 1;\r\nSELECT 2;\r\n", false),
            ("SELECT 1", "\u{FEFF}SELECT 1", false),
            ("SELECT 1", "SELECT 2", true),
            ("SELECT 1", "SELECT 1 ", true),
            ("SELECT 'a\rb'", "SELECT 'ab'", true),
        ]
    )
    func `line ends and a byte order mark are no change of a text`(old: String, new: String, isChanged: Bool)
        throws
    {
        let db = try memory()
        try Migrator(SQLMigration.numbered([old])).migrate(db)
        #expect(
            try Migrator(SQLMigration.numbered([new])).status(db).editedVersions == (isChanged ? [1] : [])
        )
    }

    @Test func `a ledger that FMDBMigrationManager made is adopted as it is`() throws {
        let db = try memory()
        try db.execute(
            script: """
                CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
                INSERT INTO schema_migrations VALUES (1), (2);
                """
        )
        let migrator = try Migrator(migrations(1, 2, 3))
        #expect(try migrator.migrate(db).applied == [3])
        #expect(try db.query("SELECT * FROM schema_migrations") == [[1], [2], [3]])
        #expect(try migrator.status(db).editedVersions == [])
    }

    @Test(
        arguments: [
            (
                "CREATE TABLE schema_migrations(version INTEGER); INSERT INTO schema_migrations VALUES ('one')",
                "The table schema_migrations has a version that is not a number: the text \"one\""
            ),
            (
                "CREATE TABLE schema_migrations(version INTEGER); INSERT INTO schema_migrations VALUES (NULL)",
                "The table schema_migrations has a version that is not a number: NULL"
            ),
        ]
    )
    func `a ledger that cannot be read is an error and never an empty list`(script: String, message: String)
        throws
    {
        let db = try memory()
        try db.execute(script: script)
        let migrator = try Migrator(migrations(1))
        for error in [try sqlError { try migrator.status(db) }, try sqlError { try migrator.migrate(db) }] {
            #expect(error.code == .ledgerUnreadable)
            #expect(error.message == message)
        }
        #expect(try tables(in: db).isEmpty)
    }

    @Test func `a temporary table does not hide the ledger`() throws {
        let db = try memory()
        try Migrator(migrations(1)).migrate(db)
        try db.query("CREATE TEMP TABLE schema_migrations(version)")
        #expect(try Migrator(migrations(1, 2)).migrate(db).applied == [2])
        #expect(try db.query("SELECT version FROM main.schema_migrations") == [[1], [2]])
    }

    @Test func `the numbering of user_version becomes a ledger, once`() throws {
        let db = try memory()
        try db.execute(script: "CREATE TABLE t1(x); CREATE TABLE t2(x); PRAGMA user_version = 2")
        let migrator = try Migrator(migrations(1, 2, 3))
        #expect(try migrator.markApplied(upTo: db.userVersion, in: db) == [1, 2])
        #expect(try migrator.migrate(db).applied == [3])
        #expect(try migrator.markApplied(upTo: db.userVersion, in: db) == [])
        #expect(try migrator.status(db).editedVersions == [])
    }

    @Test func `a ledger that was made at too low a number is corrected`() throws {
        let db = try memory()
        try db.execute(script: "CREATE TABLE t1(x); CREATE TABLE t2(x)")
        let migrator = try Migrator(migrations(1, 2, 3))
        #expect(try migrator.markApplied(upTo: 1, in: db) == [1])
        #expect(try sqlError { try migrator.migrate(db) }.version == 2)
        #expect(try migrator.markApplied(upTo: 2, in: db, repairingLedger: true) == [2])
        #expect(try migrator.migrate(db).applied == [3])
    }

    @Test func `a database without a numbering is a new one`() throws {
        let db = try memory()
        let migrator = try Migrator(migrations(1))
        #expect(try migrator.markApplied(upTo: db.userVersion, in: db) == [])
        #expect(try migrator.migrate(db).applied == [1])
    }

    @Test func `a numbering that no migration has is refused`() throws {
        let db = try memory()
        let error = try sqlError { try Migrator(migrations(1)).markApplied(upTo: 2, in: db) }
        #expect(error.code == .unknownTarget)
        #expect(error.description.hasSuffix("belongs to a newer release, and needs an update of the app."))
        #expect(try db.query("SELECT * FROM sqlite_master").isEmpty)
    }
}
