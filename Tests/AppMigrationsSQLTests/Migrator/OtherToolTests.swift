import AppMigrations
import AppMigrationsSQLite
import Testing

@testable import AppMigrationsSQL

/// The tables of other tools, each with the columns that it makes.
@Suite(.temporaryDirectory) struct OtherToolTests {
    static let tools = """
        golang-migrate|version BIGINT, dirty BOOLEAN
        Ecto|version BIGINT, inserted_at TEXT
        Rails or dbmate|version varchar
        Rails or dbmate|Version TEXT
        |version BIGINT, execution_time BIGINT
        diesel|version VARCHAR(50), run_on TIMESTAMP
        GRDB|identifier TEXT
        |version INTEGER, name TEXT
        |version INTEGER, name TEXT, applied_at TEXT
        |version INTEGER, name TEXT, checksum TEXT
        |version TEXT, name TEXT, checksum TEXT, applied_at TEXT
        |version INTEGER, name VARCHAR(255), checksum TEXT, applied_at TEXT
        |version INTEGER, name TEXT, checksum TEXT, applied_at DATETIME
        |name TEXT, version INTEGER, checksum TEXT, applied_at TEXT
        |version INTEGER, name TEXT, checksum TEXT, applied_at TEXT, success BOOLEAN
        fastmigrate|id INTEGER, version INTEGER
        |id INTEGER, version INTEGER, name TEXT
        |manager TEXT
        """.split(separator: "\n").map { line in
            let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            let tool = parts[0].isEmpty ? "" : ". It looks like the ledger of \(parts[0])"
            return (parts[1], "no ledger of this library, because its columns are \(parts[1])\(tool)")
        }

    static let ledgers =
        tools
        + ["manager TEXT, version TEXT"].map {
            ($0, "no ledger of this library, because its columns are \($0)")
        }

    /// What the error adds if only the types or the order of the columns differ from those of a ledger.
    private static func advice(on columns: String) -> String {
        let names = columns.split(separator: ", ").map { $0.prefix { $0 != " " } }
        if Set(names) != ["version", "name", "checksum", "applied_at"] { return "" }
        return
            ". If it was one, and a tool has changed the types or the order of its columns, change them back: with another"
            + " ledger, every migration runs again"
    }

    @Test(arguments: ledgers)
    func `the ledger of another tool is refused by its columns`(columns: String, owner: String) async throws {
        for name in ["schema_migrations", "flyway_schema_history"] {
            let db = try memory()
            try db.query("CREATE TABLE \(name)(\(columns))")
            // These versions must not count as applied.
            if columns.lowercased().contains("version") {
                try db.query("INSERT INTO \(name)(version) VALUES (1)")
            }
            let before = try db.query("PRAGMA schema_version")
            let scripts = ["CREATE TABLE note(x)"]
            let migrator = try Migrator(SQLMigration.numbered(scripts), ledger: name)
            let awaited = try AwaitedMigrator(SQLMigration.numbered(scripts), ledger: name)
            let connection = AwaitedConnection(db)
            for error in [
                try sqlError { try migrator.migrate(db) }, try sqlError { try migrator.status(db) },
                try sqlError { try migrator.markApplied(upTo: 1, in: db) },
                await sqlError { () async throws(SQLError) in try await awaited.migrate(connection) },
                await sqlError { () async throws(SQLError) in try await awaited.status(connection) },
                await sqlError { () async throws(SQLError) in
                    try await awaited.markApplied(upTo: 1, in: connection)
                },
            ] {
                #expect(
                    error?.description
                        == "The table \(name) is \(owner)\(Self.advice(on: columns)). No migration was run."
                        + " Give this migrator a ledger of its own (ledger:)."
                )
                #expect(error?.code == .foreignLedger)
            }
            #expect(try db.query("PRAGMA schema_version") == before)
        }
    }

    @Test(arguments: OtherLedger.all)
    func `a migrator with the table of another tool as its ledger names the tool`(ledger: OtherLedger) throws
    {
        let db = try memory()
        try db.execute(script: ledger.script)
        let migrator = try Migrator(Migration.numbered(["CREATE TABLE note(x)"]), ledger: ledger.table)
        let error = try sqlError { try migrator.migrate(db) }
        #expect(error.code == .foreignLedger)
        #expect(error.message.hasSuffix(". It looks like the ledger of \(ledger.tool)"), "\(error)")
    }

    @Test func `each table that is known has a schema in the tests`() {
        let known = KnownLedger.all.map { "\($0.tool): \($0.table)" }.sorted()
        #expect(known == OtherLedger.all.map(\.description).sorted())
    }

    @Test(arguments: tools)
    func `a table app_migrations of another tool is refused as well`(columns: String, owner: String)
        async throws
    {
        let library = try Library()
        try library.db.query("CREATE TABLE app_migrations(\(columns))")
        let before = try library.db.query("PRAGMA schema_version")
        let connection = AwaitedConnection(library.db)
        let manager = { try library.manager().manager }
        let errors = [
            #expect(throws: MigrationError.self) {
                try manager().whenMigrating(toVersion: "1.1", in: library.db) { _, _ in }
            },
            #expect(throws: MigrationError.self) {
                try manager().whenMigrating(toVersion: "1.1", in: library.db) { _, _, _ in .done }
            },
            await #expect(throws: MigrationError.self) {
                try await manager().whenMigrating(toVersion: "1.1", in: connection) { _, _ in
                    try await connection.query("SELECT nothing")
                }
            },
        ]
        for error in errors {
            let error = error?.underlyingError as? SQLError
            #expect(error?.code == .foreignLedger)
            #expect(error?.message == "The table app_migrations is \(owner)")
        }
        #expect(try library.db.query("PRAGMA schema_version") == before)
        #expect(try manager().whenMigrating(toVersion: "1.1", in: library.db, ledger: "ours") { _, _ in })
        #expect(try library.db.query("SELECT manager, version FROM ours") == [["Library", "1.1"]])
        try manager().reset(to: "1.0", in: library.db, ledger: "ours")
        #expect(try library.db.query("SELECT manager, version FROM ours").isEmpty)
    }

    @Test func `a module that is new beside the ledger of FMDBMigrationManager has its own`() throws {
        let left = """
            CREATE TABLE old(x);
            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
            INSERT INTO schema_migrations VALUES (1), (2)
            """
        let scripts = Migration.numbered(["CREATE TABLE a(x)", "CREATE TABLE b(x)"])
        let db = try memory()
        try db.execute(script: left)
        #expect(try Migrator(scripts).migrate(db).description == "Nothing was pending.")
        #expect(try tables(in: db) == ["old"])
        #expect(try Migrator(scripts, ledger: "module").migrate(db).applied == [1, 2])
        let edited = Migration.numbered(["CREATE TABLE old(x)", "CREATE TABLE b(y)", "CREATE TABLE c(x)"])
        #expect(try Migrator(edited).migrate(db).applied == [3])
        #expect(try Migrator(edited).status(db).editedVersions == [])
    }
}
