import AppMigrations
import AppMigrationsSQLite
import Testing

/// The tables of other tools, each with the columns that it makes.
@Suite(.temporaryDirectory) struct OtherToolTests {
    static let tools = [
        ("version BIGINT PRIMARY KEY, dirty BOOLEAN NOT NULL", "golang-migrate's: it has a column dirty"),
        ("version BIGINT PRIMARY KEY, inserted_at TEXT", "Ecto's: it has a column inserted_at"),
        (
            "installed_rank INT NOT NULL, version TEXT, description TEXT, type TEXT, script TEXT, checksum INT,"
                + " installed_by TEXT, installed_on TEXT, execution_time INT, success BOOLEAN",
            "Flyway's: it has a column installed_rank"
        ),
        (
            "version TEXT PRIMARY KEY, executed_at TEXT, execution_time INT",
            "Doctrine's: it has a column executed_at"
        ),
        (
            "version BIGINT PRIMARY KEY, description TEXT, installed_on TEXT, success BOOLEAN, checksum BLOB,"
                + " execution_time BIGINT",
            "sqlx's: it has a column execution_time"
        ),
        (
            "version INT PRIMARY KEY, name TEXT, applied_on TEXT, checksum TEXT",
            "refinery's: it has a column applied_on"
        ),
        ("version_num VARCHAR(32) NOT NULL", "Alembic's: it has a column version_num"),
        (
            "id INTEGER PRIMARY KEY, version_id BIGINT NOT NULL, is_applied BOOLEAN NOT NULL, tstamp TEXT",
            "goose's: it has a column version_id"
        ),
        (
            "ID TEXT, AUTHOR TEXT, FILENAME TEXT, DATEEXECUTED TEXT, ORDEREXECUTED INT, EXECTYPE TEXT, MD5SUM TEXT",
            "Liquibase's: it has a column orderexecuted"
        ),
        (
            "id TEXT, checksum TEXT, finished_at TEXT, migration_name TEXT, logs TEXT, rolled_back_at TEXT,"
                + " started_at TEXT, applied_steps_count INT",
            "Prisma's: it has a column applied_steps_count"
        ),
        (
            "\"MigrationId\" TEXT PRIMARY KEY, \"ProductVersion\" TEXT",
            "Entity Framework's: it has a column migrationid"
        ),
        ("id INT, name TEXT, batch INT, migration_time TEXT", "Knex's: it has a column migration_time"),
        ("id INT, migration TEXT, batch INT", "Laravel's: it has a column batch"),
        (
            "id TEXT, name TEXT, batch INT, created_at TEXT, updated_at TEXT",
            "Fluent's: it has a column batch"
        ),
        ("\"order\" INT, name TEXT, \"group\" TEXT", "Hummingbird's: it has a column order"),
        ("id INT, app TEXT, name TEXT, applied TEXT", "Django's: it has a column app"),
        ("version VARCHAR(50) PRIMARY KEY, run_on TIMESTAMP", "Diesel's: it has a column run_on"),
        ("id INT, name TEXT, run_on TIMESTAMP", "node-pg-migrate's: it has a column run_on"),
        ("identifier TEXT NOT NULL PRIMARY KEY", "GRDB's: it has a column identifier"),
    ]

    static let ledgers =
        tools + [
            (
                "manager TEXT NOT NULL, version TEXT NOT NULL",
                "that of whenMigrating(toVersion:in:): it has a column manager"
            ),
            (
                "version varchar NOT NULL PRIMARY KEY",
                "that of Rails or dbmate: it has versions of texts, and no other column"
            ),
            (
                "\"Version\" Text",
                "that of Rails or dbmate: it has versions of texts, and no other column"
            ),
        ]

    @Test(arguments: ledgers)
    func `the ledger of another tool is refused by its columns`(columns: String, owner: String) async throws {
        for name in ["schema_migrations", "flyway_schema_history"] {
            let db = try memory()
            try db.query("CREATE TABLE \(name)(\(columns))")
            let before = try db.query("PRAGMA schema_version")
            let scripts = ["CREATE TABLE note(x)"]
            let migrator = try Migrator(SQLMigration.numbered(scripts), ledger: name)
            let awaited = try AwaitedMigrator(SQLMigration.numbered(scripts), ledger: name)
            let connection = AwaitedConnection(db)
            for error in [
                try sqlError { try migrator.migrate(db) }, try sqlError { try migrator.status(db) },
                try sqlError { try migrator.baseline(db, at: 1) },
                await sqlError { () async throws(SQLError) in try await awaited.migrate(connection) },
                await sqlError { () async throws(SQLError) in try await awaited.status(connection) },
                await sqlError { () async throws(SQLError) in try await awaited.baseline(connection, at: 1) },
            ] {
                #expect(
                    error?.description
                        == "The table \(name) is \(owner). Nothing was run."
                        + " Give this migrator a ledger of its own (ledger:)."
                )
                #expect(error?.code == .foreignLedger)
            }
            #expect(try db.query("PRAGMA schema_version") == before)
        }
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
                try manager().whenMigrating(toVersion: "1.1", in: library.db) { _ in }
            },
            #expect(throws: MigrationError.self) {
                try manager().whenMigrating(toVersion: "1.1", in: library.db) { _, _, _ in .done }
            },
            await #expect(throws: MigrationError.self) {
                try await manager().whenMigrating(toVersion: "1.1", in: connection) { _ in
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
        #expect(try manager().whenMigrating(toVersion: "1.1", in: library.db, ledger: "ours") { _ in })
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
        #expect(try Migrator(edited).status(db).changed == [])
    }
}
