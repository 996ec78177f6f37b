import AppMigrations
import Testing

@testable import AppMigrationsSQLite

/// The owner of a ledger, and the rows that it keeps.
@Suite(.temporaryDirectory) struct SQLLedgerTests {
    let library: Library

    init() throws { library = try Library() }

    private let notes = ["CREATE TABLE note(x)", "CREATE TABLE tag(x)"]
    private let songs = ["CREATE TABLE song(x)", "CREATE TABLE list(x)"]

    @Test(arguments: ["songs_migrations", "a \"b\" 'c'; --", "Schema_Migrations2"])
    func `modules that share a database have a ledger each`(ledger: String) throws {
        let db = try memory()
        let first = try Migrator(SQLMigration.numbered(notes))
        let second = try Migrator(SQLMigration.numbered(songs), ledger: ledger)
        for expected in [[1, 2], []] as [[Int64]] {
            #expect(try first.migrate(db).applied == expected)
            #expect(try second.migrate(db).applied == expected)
        }
        #expect(try second.status(db).editedVersions == [])
        #expect(try second.status(db).unknownVersions == [])
        #expect(try tables(in: db).sorted() == ["note", "tag", "song", "list", ledger].sorted())
    }

    @Test func `a text in the middle of an array is refused before anything runs, by choice`() throws {
        let db = try memory()
        try Migrator(SQLMigration.numbered(notes)).migrate(db)
        let inserted = SQLMigration<SQLiteConnection>.numbered([notes[0], "CREATE TABLE new(x)", notes[1]])
        let error = try sqlError { try Migrator(inserted, editedVersions: .refused).migrate(db) }
        #expect(error.code == .editedMigration)
        #expect(
            error.description
                == "Migration 2: Its SQL has changed since it was applied. No migration was run."
                + " Restore the original SQL, and write the change as a new migration after the last one."
        )
        #expect(try tables(in: db) == ["note", "tag"])
        #expect(try Migrator(inserted, editedVersions: .refused).status(db).editedVersions == [2])
        let failure = try sqlError { try Migrator(inserted).migrate(db) }
        #expect(failure.editedVersions == [2])
        #expect(failure.description.contains("table tag already exists"))
        #expect(failure.description.hasSuffix("Edited after it was applied: 2."))
    }

    @Test func `a closure doesn't hide that a ledger is another migrator's`() throws {
        let db = try memory()
        let closure = Migration(version: 1) { _, _ in }
        try Migrator([closure, Migration(version: 2, sql: notes[0])]).migrate(db)
        let other = try Migrator([closure, Migration(version: 2, sql: songs[0])])
        #expect(try sqlError { try other.migrate(db) }.code == .foreignLedger)
        #expect(try Migrator([closure, Migration(version: 2) { _, _ in }]).status(db).editedVersions == [2])
    }

    @Test func `numbers that begin elsewhere share a ledger`() throws {
        let migrations = SQLMigration<SQLiteConnection>.numbered(notes)
        let db = try memory()
        let more = SQLMigration<SQLiteConnection>.numbered(songs, startingAt: 101)
        #expect(try Migrator(migrations + more).migrate(db).applied == [1, 2, 101, 102])
    }

    @Test(arguments: 0..<3, [true, false])
    func `a version that a migration, a closure or an answer records isn't run`(place: Int, keys: Bool) throws
    {
        let made =
            "CREATE TABLE n AS SELECT * FROM schema_migrations; ALTER TABLE schema_migrations RENAME TO m"
        let row = "VALUES (3); ALTER TABLE n RENAME TO schema_migrations"
        let sql =
            keys
            ? "INSERT INTO schema_migrations(version) VALUES (3)" : "\(made); INSERT INTO n(version) \(row)"
        let db = try memory(foreignKeys: keys)
        let code = Migration(version: 2) { db, _ in if place == 1 { try db.execute(script: sql) } }
        let second = place == 0 ? Migration(version: 2, sql: sql) : code
        let all = [Migration(version: 1, sql: notes[0]), second, Migration(version: 3, sql: notes[1])]
        let report = try Migrator(all).migrate(db) { step in
            if place == 2, step.version == 2 { _ = Result { try db.execute(script: sql) } }
            return .continue
        }
        #expect(report.applied == [1, 2])
        #expect(try !tables(in: db).contains("tag"))
    }

    @Test(
        arguments: [
            (
                "SELECT 1; DELETE FROM schema_migrations",
                "removes version 1 from schema_migrations, which is", 23
            ),
            (
                "DELETE FROM [SCHEMA_migrations] WHERE version = 1",
                "removes version 1 from schema_migrations, which is", 13
            ),
            (
                "UPDATE \"schema_migrations\" SET version = 7",
                "removes version 1 from schema_migrations, which is", 8
            ),
            ("DROP TABLE main.schema_migrations", "drops or renames schema_migrations, which is", 17),
            (
                "ALTER TABLE schema_migrations RENAME TO old", "drops or renames schema_migrations, which is",
                13
            ),
            ("DELETE FROM hidden", "removes version 1 from schema_migrations, which is", nil),
        ] as [(String, String, Int?)],
        [false, true]
    )
    func `a script that removes rows of its own ledger is refused`(
        script: (sql: String, change: String, column: Int?),
        isClosure: Bool
    ) async throws {
        let first = """
            CREATE TABLE n(x); CREATE TABLE hidden(x);
            CREATE TRIGGER t AFTER DELETE ON hidden BEGIN DELETE FROM schema_migrations; END;
            INSERT INTO hidden VALUES (1)
            """
        let second =
            isClosure
            ? Migration(version: 2) { db, _ in try db.execute(script: script.sql) }
            : Migration(version: 2, sql: script.sql)
        for transactions in [SQLMigrator<SQLiteConnection>.Transactions.eachMigration, .all] {
            let db = try memory()
            let isTogether = transactions == .all
            let migrator = try Migrator(
                [Migration(version: 1, sql: first), second],
                transactions: transactions
            )
            for _ in 0..<2 {
                let error = try sqlError { try migrator.migrate(db) }
                #expect(error.code == .refusedStatement)
                #expect(error.version == 2)
                #expect(
                    error.message.contains("The migration \(script.change) the ledger of this migrator."),
                    "\(error)"
                )
                #expect(error.message.contains("(ledger:)"))
                #expect(error.column == (isClosure ? nil : script.column))
                #expect(try tables(in: db).contains("n") == !isTogether)
                if !isTogether { #expect(try ledger(of: db) == [1]) }
            }
        }
        if isClosure { return }
        // A connection of another library can't tell which tables a script has written.
        let db = try memory()
        let awaited = try AwaitedMigrator([
            SQLMigration(version: 1, sql: first.replacing("\n", with: " ")),
            SQLMigration(version: 2, sql: script.sql),
        ])
        let connection = AwaitedConnection(db)
        let error = await sqlError { () async throws(SQLError) in try await awaited.migrate(connection) }
        #expect(error?.code == .refusedStatement)
        #expect(error?.column == script.column)
        #expect(try ledger(of: db) == [1])
    }

    @Test(arguments: ["", "a\0b"]) func `a name that no table can have is refused`(name: String) throws {
        let error = try sqlError { try Migrator([], ledger: name) }
        #expect(
            error.description
                == "The name of a ledger must not be empty or contain a zero byte."
                + " This change was not kept. Rename that table, or fix it by hand."
        )
    }

    @Test(arguments: [0, 1]) func `a ledger that another migrator wrote is an error before anything runs`(
        more: Int
    ) throws {
        let db = try memory()
        try Migrator(SQLMigration.numbered(notes)).migrate(db)
        // With as many as the other has, nothing would be pending.
        let migrator = try Migrator(SQLMigration.numbered(songs + ["CREATE TABLE more(x)"].prefix(more)))
        for target in [nil, 1] as [Int64?] {
            let error = try sqlError { try migrator.migrate(db, to: target) }
            #expect(error.code == .foreignLedger)
            #expect(
                error.description
                    == "The table schema_migrations belongs to another migrator: its version 1 has another text, and"
                    + " the database has no song, list. No migration was run."
                    + " Give this migrator a ledger of its own (ledger:)."
            )
        }
        #expect(try migrator.status(db).editedVersions == [1, 2])
        #expect(try tables(in: db) == ["note", "tag"])
        #expect(try ledger(of: db) == [1, 2])
    }

    @Test func `a ledger that another migrator wrote while the lock was waited for is an error, too`() throws
    {
        let db = try memory()
        let other = try Migrator(SQLMigration.numbered(notes))
        var isFirst = true
        let connection = OtherConnection(db) { sql in
            if sql == "BEGIN IMMEDIATE", isFirst {
                isFirst = false
                try other.migrate(db)
            }
        }
        let migrator = try SQLMigrator<OtherConnection>(SQLMigration.numbered(songs))
        let error = try sqlError { try migrator.migrate(connection) }
        #expect(error.code == .foreignLedger)
        #expect(error.applied == [])
        #expect(try tables(in: db) == ["note", "tag"])
    }

    @Test func `files with the names of another migrator's are found out, too`() throws {
        try withTemporaryFolder { folder in
            try write(songs[0], to: folder + "/1_first.sql")
            let db = try memory()
            try Migrator([Migration(version: 1, name: "first", sql: notes[0])]).migrate(db)
            let error = try sqlError { try Migrator(SQLMigration.files(in: folder)).migrate(db) }
            #expect(error.code == .foreignLedger)
        }
    }

    @Test(
        arguments: [
            // Its table is there.
            ["CREATE TABLE note(x, y)", "CREATE TABLE tag(x, y)"],
            // No table of its own is to be expected.
            ["INSERT INTO note VALUES (1)", "INSERT INTO tag VALUES (1)"],
            ["CREATE TEMP TABLE note2(x)", "-- CREATE TABLE a(x)"],
            ["CREATE TABLE note2(x)", "DROP TABLE IF EXISTS main.note2"],
            [
                "CREATE TABLE note2(x)",
                "ALTER TABLE note2 RENAME COLUMN x TO y; ALTER TABLE NOTE2 RENAME TO \"tag\"",
            ],
            // Another row is as this migrator would have written it.
            ["CREATE TABLE note2(x)", "CREATE TABLE tag(x)"],
        ]
    )
    func `a text that was edited after its release is told, and refused by nobody`(texts: [String]) throws {
        let db = try memory()
        try Migrator(SQLMigration.numbered(notes)).migrate(db)
        let changed = texts[1] == notes[1] ? [1] : [1, 2] as [Int64]
        let migrator = try Migrator(SQLMigration.numbered(texts))
        // The newest one is compared when nothing is pending.
        #expect(try migrator.migrate(db).editedVersions == (changed == [1] ? [] : changed))
        #expect(try migrator.status(db).editedVersions == changed)
        let more = try Migrator(SQLMigration.numbered(texts + ["CREATE TABLE more(x)"]))
        let report = try more.migrate(db)
        #expect(report.editedVersions == changed)
        #expect(report.applied == [3])
    }

    @Test func `a text that became a closure, or the other way round, is no other owner's`() throws {
        let db = try memory()
        try Migrator([Migration(version: 1, sql: "SELECT 1"), Migration(version: 2) { _, _ in }]).migrate(db)
        let migrator = try Migrator([
            Migration(version: 1) { _, _ in }, Migration(version: 2, sql: "CREATE TABLE a(x)"),
        ])
        #expect(try migrator.migrate(db).editedVersions == [])
    }

    @Test(
        arguments: [
            "CREATE TABLE L(version INTEGER, name TEXT NOT NULL ON CONFLICT IGNORE, checksum TEXT, applied_at TEXT)",
            """
            CREATE TABLE L(version INTEGER);
            CREATE TRIGGER t BEFORE INSERT ON L WHEN new.version > 1 BEGIN SELECT RAISE(IGNORE); END
            """,
            """
            CREATE TABLE L(version INTEGER, name TEXT, checksum TEXT, applied_at TEXT);
            CREATE TRIGGER t AFTER INSERT ON L WHEN new.version > 1 BEGIN DELETE FROM L WHERE version = new.version; END
            """,
            """
            CREATE TABLE a(version INTEGER, name TEXT, checksum TEXT, applied_at TEXT); CREATE VIEW L AS SELECT * FROM a WHERE version < 2;
            CREATE TRIGGER t INSTEAD OF INSERT ON L BEGIN INSERT INTO a(version) VALUES (new.version); END
            """,
        ]
    )
    func `a row that the table does not keep undoes its migration`(table: String) throws {
        let db = try memory()
        try db.execute(script: "CREATE TABLE n(x); INSERT INTO n VALUES (5);" + table)
        let migrator = try Migrator(
            [
                Migration(version: 1, name: "one", sql: "SELECT 1"),
                Migration(version: 2, sql: "UPDATE n SET x = x * 100"),
            ],
            ledger: "L"
        )
        for _ in 0..<2 {
            let error = try sqlError { try migrator.migrate(db) }
            #expect(
                error.description.contains(
                    "Migration 2: The table L did not keep the row of version 2, or lost another row."
                ),
                "\(error)"
            )
            #expect(error.code == .ledgerUnreadable)
        }
        #expect(try db.query("SELECT x FROM n") == [[5]])
    }

    @Test func `a trigger of a migration that deletes other rows undoes the next migration`() throws {
        let trigger = """
            CREATE TRIGGER t AFTER INSERT ON schema_migrations
            BEGIN DELETE FROM schema_migrations WHERE version < new.version; END
            """
        let db = try memory()
        let migrator = try Migrator(SQLMigration.numbered([trigger, "CREATE TABLE note(x)"]))
        for _ in 0..<2 {
            let error = try sqlError { try migrator.migrate(db) }
            #expect(error.code == .ledgerUnreadable)
            #expect(
                error.message.contains("did not keep the row of version 2, or lost another row"),
                "\(error)"
            )
            #expect(try ledger(of: db) == [1])
        }
    }

    @Test func `a view with a trigger is a ledger, too`() throws {
        let db = try memory()
        try db.execute(
            script: """
                CREATE TABLE base(number INTEGER); CREATE VIEW schema_migrations AS SELECT number AS version FROM base;
                CREATE TRIGGER t INSTEAD OF INSERT ON schema_migrations BEGIN INSERT INTO base VALUES (new.version); END
                """
        )
        #expect(try Migrator(SQLMigration.numbered(notes)).migrate(db).applied == [1, 2])
    }

    @Test(
        arguments: [
            """
            CREATE TABLE app_migrations(manager TEXT, version TEXT);
            CREATE TRIGGER t BEFORE INSERT ON app_migrations BEGIN SELECT RAISE(IGNORE); END
            """,
            """
            CREATE TABLE app_migrations(manager TEXT PRIMARY KEY ON CONFLICT REPLACE, version TEXT);
            INSERT INTO app_migrations VALUES ('Library', '1.2')
            """,
        ]
    )
    func `a version whose row is not kept is not done`(table: String) throws {
        try library.db.execute(script: table)
        for _ in 0..<2 {
            let error = #expect(throws: MigrationError.self) { try library.manager().add("1.4") }
            #expect(
                (error?.underlyingError as? SQLError)?.message
                    == "The table app_migrations did not keep the row of version 1.4, or lost another row"
            )
        }
        #expect(try library.log.isEmpty)
    }

    @Test func `a temporary table of the same name takes no record`() throws {
        let hide = { @Sendable (db: SQLiteConnection) in
            for table in ["schema_migrations", "app_migrations"] {
                try db.query("CREATE TEMP TABLE IF NOT EXISTS \(table)(version UNIQUE, manager, cursor)")
            }
        }
        let migrator = try Migrator((1...2).map { SQLMigration(version: $0) { db, _ in try hide(db) } })
        #expect(try migrator.migrate(library.db).applied == [1, 2])
        for version in ["1.3", "1.4"] {
            #expect(try library.manager().whenMigrating(toVersion: version, run: hide))
        }
        // Another connection has none of the temporary tables.
        let other = try SQLiteConnection(path: library.db.path)
        #expect(try migrator.migrate(other).applied == [])
        #expect(try migrator.migrate(library.db).applied == [])
        #expect(try other.query("SELECT version FROM app_migrations ORDER BY 1") == [["1.3"], ["1.4"]])
    }
}
