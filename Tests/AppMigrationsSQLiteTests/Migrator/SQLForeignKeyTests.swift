import AppMigrationsSQLite
import Testing

@Suite struct SQLForeignKeyTests {
    private let schema = Migration(
        version: 1,
        sql: """
            CREATE TABLE parent(id INTEGER PRIMARY KEY);
            CREATE TABLE child(id INTEGER PRIMARY KEY, p REFERENCES parent(id) ON DELETE CASCADE);
            INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (10, 1), (20, 2);
            """
    )

    private func migrated(orphans: Int = 0) throws -> SQLiteConnection {
        let db = try memory()
        try Migrator([schema]).migrate(db)
        for number in 0..<orphans {
            try db.query("INSERT INTO child VALUES (?, 99)", [.integer(Int64(100 + number))])
        }
        try db.query("PRAGMA foreign_keys = ON")
        return db
    }

    private func migrate(_ db: SQLiteConnection, _ sql: String) throws {
        let result = Result { try Migrator([schema, Migration(version: 2, sql: sql)]).migrate(db) }
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
        _ = try result.get()
    }

    @Test func `a table that others refer to can be rebuilt by hand without losing them`() throws {
        let db = try migrated()
        try migrate(
            db,
            """
            CREATE TABLE new(id INTEGER PRIMARY KEY, title TEXT);
            INSERT INTO new(id) SELECT id FROM parent;
            DROP TABLE parent;
            ALTER TABLE new RENAME TO parent;
            """
        )
        #expect(try db.query("SELECT count(*) FROM child") == [[2]])
    }

    @Test func `a migration that leaves rows which refer to none is rolled back`() throws {
        let db = try migrated()
        let error = try sqlError { try migrate(db, "DELETE FROM parent WHERE id = 1") }
        #expect(
            error.description == "Migration 2: It leaves rows that refer to none:"
                + " child (rowid 10) refers to no row of parent. It was rolled back."
                + " Delete or mend these rows in it."
        )
        #expect(try db.query("SELECT count(*) FROM parent") == [[2]])
        #expect(try ledger(of: db) == [1])
    }

    @Test(
        arguments: [
            "SELECT 1",
            "CREATE TABLE other(x); INSERT INTO other SELECT p FROM child",
            "ALTER TABLE child RENAME TO children",
            """
            CREATE TABLE new(p REFERENCES parent(id)); INSERT INTO new(p) SELECT p FROM child ORDER BY id DESC;
            DROP TABLE child; ALTER TABLE new RENAME TO child;
            """,
            "DELETE FROM child WHERE p = 99",
            "ALTER TABLE parent RENAME TO parents; ALTER TABLE child ADD COLUMN x",
            "ALTER TABLE parent RENAME TO parents; ALTER TABLE child RENAME TO children",
        ]
    )
    func `rows that referred to none before are tolerated`(sql: String) throws {
        try migrate(migrated(orphans: 2), sql)
    }

    @Test func `a row whose other reference to the same table leads nowhere is another one`() throws {
        let db = try migrated()
        try db.query("PRAGMA foreign_keys = OFF")
        try db.execute(
            script:
                "CREATE TABLE pair(a REFERENCES parent, b REFERENCES parent); INSERT INTO pair VALUES (77, 2)"
        )
        try db.query("PRAGMA foreign_keys = ON")
        let sql = "UPDATE pair SET a = 1; DELETE FROM child; DELETE FROM parent WHERE id = 2"
        #expect(try sqlError { try migrate(db, sql) }.code == .foreignKeyViolation)
        try migrate(db, "UPDATE pair SET a = 78")
    }

    @Test(
        arguments: [
            "DELETE FROM parent WHERE id = 1",
            "ALTER TABLE child RENAME TO children; DELETE FROM parent WHERE id = 1",
            "CREATE TABLE more(p REFERENCES parent(id)); INSERT INTO more VALUES (77)",
            // One goes and one comes.
            "DELETE FROM child WHERE id = 100; DELETE FROM parent WHERE id = 1",
            "DELETE FROM child WHERE id = 100; DELETE FROM parent WHERE id = 1; ALTER TABLE child ADD COLUMN x",
            """
            DELETE FROM child WHERE id = 100; DELETE FROM parent WHERE id = 1;
            ALTER TABLE parent RENAME TO parents
            """,
            // A table that was made again is counted.
            """
            DELETE FROM parent;
            CREATE TABLE new(p REFERENCES parent(id)); INSERT INTO new(p) SELECT p FROM child ORDER BY id DESC;
            DROP TABLE child; ALTER TABLE new RENAME TO child;
            """,
        ]
    )
    func `new ones are found among old ones`(sql: String) throws {
        let db = try migrated(orphans: 2)
        #expect(try sqlError { try migrate(db, sql) }.code == .foreignKeyViolation)
    }

    @Test func `the row that is new is named among old ones`() throws {
        let db = try migrated(orphans: 2)
        let error = try sqlError {
            try migrate(db, "DELETE FROM child WHERE id = 100; DELETE FROM parent WHERE id = 2")
        }
        #expect(
            error.message == "It leaves rows that refer to none: child (rowid 20) refers to no row of parent"
        )
    }

    @Test func `rows without row ids are counted for the table that they refer to`() throws {
        let db = try migrated()
        try db.execute(
            script: """
                PRAGMA foreign_keys = OFF; CREATE TABLE other(id INTEGER PRIMARY KEY); INSERT INTO other VALUES (1);
                CREATE TABLE w(a PRIMARY KEY, p REFERENCES parent(id), o REFERENCES other(id)) WITHOUT ROWID;
                INSERT INTO w VALUES (1, 99, 1), (2, 99, 1); PRAGMA foreign_keys = ON
                """
        )
        let replaced = try sqlError { try migrate(db, "DELETE FROM w WHERE a = 1; DELETE FROM other") }
        #expect(
            replaced.message == "It leaves rows that refer to none: a row of w refers to no row of other"
        )
        try migrate(db, "UPDATE w SET a = a + 10")
    }

    @Test func `what is off stays off and is not checked`() throws {
        let db = try memory()
        try Migrator([schema, Migration(version: 2, sql: "DELETE FROM parent")]).migrate(db)
        #expect(try db.query("PRAGMA foreign_keys") == [[0]])
        #expect(try db.query("SELECT count(*) FROM child") == [[2]])
    }

    @Test func `in one transaction the migration that breaks a reference is named`() throws {
        let db = try memory(foreignKeys: true)
        let migrator = try Migrator(
            [
                schema, Migration(version: 2, sql: "DELETE FROM parent"),
                Migration(version: 3, sql: "DELETE FROM child"),
            ],
            transactions: .all
        )
        let error = try sqlError { try migrator.migrate(db) }
        #expect(error.version == 2)
        #expect(try tables(in: db).isEmpty)
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
    }

    @Test func `they are on again where they could be turned off but not asked about`() throws {
        let db = try migrated()
        var asked = 0
        let connection = OtherConnection(db) { sql in
            guard sql == "PRAGMA foreign_keys" else { return }
            asked += 1
            if asked == 2 { throw OtherConnection.Failure(description: "disk I/O error") }
        }
        let error = try sqlError {
            try SQLMigrator([SQLMigration(version: 2, sql: "CREATE TABLE a(x)")]).migrate(connection)
        }
        #expect(error.description == "disk I/O error.")
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
    }
}
