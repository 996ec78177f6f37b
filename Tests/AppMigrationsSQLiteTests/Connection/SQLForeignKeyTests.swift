import AppMigrations
import AppMigrationsSQLite
import Foundation
import Testing

@Suite(.watchdog) struct SQLForeignKeyTests {
    private let schema = Migration(
        version: 1,
        sql: """
            CREATE TABLE parent(id INTEGER PRIMARY KEY);
            CREATE TABLE child(id INTEGER PRIMARY KEY, p REFERENCES parent(id) ON DELETE CASCADE);
            INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (10, 1), (20, 2);
            """
    )

    private func migrated(orphans: Int = 0) throws -> SQLiteConnection {
        let db = try database("PRAGMA auto_vacuum = FULL; CREATE TABLE first(x)", foreignKeys: false)
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
            error.description == "Migration 2: This would leave rows that refer to missing rows:"
                + " child (rowid 10) refers to a missing row of parent. It was rolled back."
                + " Delete or fix these rows in it, or insert the rows that they refer to."
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

    @Test func `the report says which rows refer to none still`() throws {
        let db = try migrated(orphans: 4)
        let rows = (100...102).map { "child (rowid \($0)) refers to a missing row of parent" }.joined(
            separator: "; "
        )
        var report = try Migrator([schema, Migration(version: 2, sql: "SELECT 1")]).migrate(db)
        #expect(report.remainingViolations == ["\(rows); and 1 more"])
        #expect("\(report)" == "Applied: 2. Rows that refer to missing rows: \(rows); and 1 more.")
        let mend = "DELETE FROM child WHERE p NOT IN (SELECT id FROM parent)"
        report = try Migrator([schema, Migration(version: 3, sql: mend)]).migrate(db)
        #expect(report.remainingViolations == [])
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
            // One orphan goes and one comes.
            "DELETE FROM child WHERE id = 100; DELETE FROM parent WHERE id = 1",
            "DELETE FROM child WHERE id = 100; DELETE FROM parent WHERE id = 1; ALTER TABLE child ADD COLUMN x",
            // The last page of the file moves into its place.
            "DROP TABLE first; DELETE FROM child WHERE id = 100; DELETE FROM parent WHERE id = 1",
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
        ],
        [0, 2]
    )
    func `new ones are found among old ones`(sql: String, orphans: Int) throws {
        let db = try migrated(orphans: orphans)
        #expect(try sqlError { try migrate(db, sql) }.code == .foreignKeyViolation)
    }

    @Test func `the row that is new is named among old ones`() throws {
        let db = try migrated(orphans: 2)
        let error = try sqlError {
            try migrate(db, "DELETE FROM child WHERE id = 100; DELETE FROM parent WHERE id = 2")
        }
        #expect(
            error.message
                == "This would leave rows that refer to missing rows: child (rowid 20) refers to a missing row of parent"
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
            replaced.message
                == "This would leave rows that refer to missing rows: a row of w refers to a missing row of other"
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
                schema, Migration(version: 2, sql: "ALTER TABLE child RENAME TO c"),
                Migration(version: 3, sql: "DELETE FROM parent"), Migration(version: 4, sql: "DELETE FROM c"),
            ],
            transactions: .all
        )
        let error = try sqlError { try migrator.migrate(db) }
        #expect(error.version == 3 && error.code == .foreignKeyViolation)
        #expect(try tables(in: db).isEmpty)
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
    }

    private static let mismatch = """
        CREATE TABLE p(id INTEGER PRIMARY KEY, code TEXT); CREATE TABLE c(x REFERENCES p(code)); INSERT INTO c VALUES (7);
        CREATE TABLE parent(id INTEGER PRIMARY KEY); CREATE TABLE child(id INTEGER PRIMARY KEY, p REFERENCES parent(id))
        """

    @Test(arguments: [false, true])
    func `a reference that SQLite can't check hinders no migration, and the others are checked`(isOther: Bool)
        throws
    {
        let db = try database(Self.mismatch)
        func migrate(_ version: Int64, _ sql: String) throws {
            if isOther {
                try SQLMigrator([SQLMigration(version: version, sql: sql)]).migrate(OtherConnection(db))
            } else {
                try Migrator([Migration(version: version, sql: sql)]).migrate(db)
            }
        }
        try migrate(1, "CREATE TABLE n(a)")
        try migrate(2, "UPDATE c SET x = 8")
        #expect(
            try sqlError { try migrate(3, "INSERT INTO child VALUES (1, 9)") }.code == .foreignKeyViolation
        )
        // The rows that break the reference were there before SQLite could check it.
        try migrate(4, "CREATE UNIQUE INDEX p_code ON p(code)")
        #expect(try sqlError { try migrate(5, "INSERT INTO c VALUES (9)") }.code == .foreignKeyViolation)
        let error = try sqlError { try migrate(6, "DROP INDEX p_code") }
        #expect(error.message.hasSuffix("foreign key mismatch - \"c\" referencing \"p\""), "\(error)")
        #expect(try ledger(of: db) == [1, 2, 4])
    }

    @Test(arguments: [false, true])
    func `a new table with a reference that SQLite can't check is an error`(isOther: Bool) throws {
        let db = try database("CREATE TABLE p(code TEXT)")
        let sql = "CREATE TABLE c(id INTEGER PRIMARY KEY, x REFERENCES p(code))"
        let error = try sqlError {
            if isOther {
                try SQLMigrator([SQLMigration(version: 1, sql: sql)]).migrate(OtherConnection(db))
            } else {
                try Migrator([Migration(version: 1, sql: sql)]).migrate(db)
            }
        }
        #expect(error.message.contains("foreign key mismatch"), "\(error)")
        #expect(try db.query("SELECT name FROM sqlite_master WHERE name = 'c'").isEmpty)
    }

    @Test func `a new table to which a reference can't be checked is an error`() throws {
        let db = try database("CREATE TABLE c(x REFERENCES p(code))")
        let migrator = try Migrator([Migration(version: 1, sql: "CREATE TABLE p(code TEXT)")])
        let error = try sqlError { try migrator.migrate(db) }
        #expect(error.message.contains("foreign key mismatch"), "\(error)")
    }

    @Test func `a connection that tells of no writes has all checked once before, and after each`() throws {
        let db = try migrated()
        var checks: [String] = []
        let connection = OtherConnection(db) { sql in
            if sql.contains("foreign_key_check") { checks.append(sql) }
        }
        let sql = ["CREATE TABLE a(x)", "CREATE TABLE b(x)", "CREATE TABLE c(x)"]
        try SQLMigrator(SQLMigration.numbered(sql, startingAt: 2)).migrate(connection)
        #expect(checks == Array(repeating: "PRAGMA foreign_key_check", count: 4))
    }

    @Test(
        arguments: [
            "INSERT INTO child VALUES (30, 9)", "UPDATE OR IGNORE child SET p = 9",
            "REPLACE INTO child VALUES (10, 9)",
            "DELETE FROM parent", "DROP TABLE parent", "INSERT INTO log VALUES (1)",
            "ALTER TABLE parent RENAME TO p2; DELETE FROM p2",
            "CREATE TABLE late(p REFERENCES parent DEFAULT 9); INSERT INTO late DEFAULT VALUES",
            "ALTER TABLE log ADD COLUMN q REFERENCES parent; UPDATE log SET q = 9",
        ]
    )
    func `whichever statement writes it, a row that refers to none is found`(sql: String) throws {
        let db = try migrated()
        try Migrator([schema, Migration(version: 2, sql: Self.trigger)]).migrate(db)
        let migrations = [schema, Migration(version: 2, sql: Self.trigger), Migration(version: 3, sql: sql)]
        for isClosure in [false, true] {
            let last =
                isClosure ? Migration(version: 3) { db, _ in try db.execute(script: sql) } : migrations[2]
            let error = try sqlError { try Migrator(migrations.prefix(2) + [last]).migrate(db) }
            #expect(error.code == .foreignKeyViolation && error.version == 3, "\(error)")
        }
    }

    private static let trigger = """
        CREATE TABLE log(x); INSERT INTO log VALUES (0);
        CREATE TRIGGER hidden AFTER INSERT ON log BEGIN INSERT INTO child VALUES (40, 9); END
        """

    @Test func `they are on again whenever a statement was interrupted`() throws {
        let db = try migrated()
        let isDone = Guarded(false)
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !isDone.withLock({ $0 }) {
                db.interrupt()
                sched_yield()
            }
            hasEnded.signal()
        }
        for version in 2..<200 as Range<Int64> {
            // Whatever is interrupted, and however far it came.
            _ = Result {
                try Migrator([schema, Migration(version: version, sql: "CREATE TABLE a\(version)(x)")])
                    .migrate(db)
            }
        }
        isDone.withLock { $0 = true }
        hasEnded.wait()
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
