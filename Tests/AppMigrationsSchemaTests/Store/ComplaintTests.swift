import Foundation
import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// SQLite's checks complain of rows and of files; only the second is damage.
@Suite(.temporaryDirectory) struct ComplaintTests {
    /// Stores whose rows break a constraint, or are said to.
    private static let complaining = [
        // SQLite 3.40 reports a NULL in this one.
        "CREATE TABLE g(title TEXT NOT NULL, id TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO g VALUES ('hello', 'a')",
        "CREATE TABLE g(a CHECK (a > 0)); PRAGMA ignore_check_constraints = ON; INSERT INTO g VALUES (-1), (-2)",
        """
        CREATE TABLE g(a); INSERT INTO g VALUES (NULL), (1); PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = 'CREATE TABLE g(a NOT NULL)' WHERE name = 'g'
        """,
        """
        CREATE TABLE g(a TEXT) STRICT; INSERT INTO g VALUES ('one'); PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = 'CREATE TABLE g(a INT) STRICT' WHERE name = 'g'
        """,
        "CREATE TABLE g(a); INSERT INTO g VALUES (1); ALTER TABLE g ADD COLUMN flag TEXT DEFAULT TRUE",
        // More of them than a person reads.
        """
        CREATE TABLE g(a CHECK (a < 0)); PRAGMA ignore_check_constraints = ON;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO g SELECT i FROM n
        """,
        // A reference that fits no key: SQLite can't look for rows that refer to none.
        "CREATE TABLE a(x REFERENCES g(y)); CREATE TABLE g(y); INSERT INTO a VALUES (1)",
    ]

    private static func store(_ script: String) throws -> SQLiteStore {
        let store = SQLiteStore(path: TemporaryDirectory.current.file("store"))
        try run(script, on: SQLiteConnection(path: store.path))
        return store
    }

    /// Pragmas are refused in a script.
    private static func run(_ script: String, on db: SQLiteConnection) throws {
        for statement in script.split(separator: ";") { try db.query(String(statement)) }
    }

    @Test(arguments: complaining, [SQLiteStore.Check.quick, .full])
    func `a row that breaks a constraint is no damage`(script: String, check: SQLiteStore.Check) throws {
        let store = try Self.store(script)
        let db = try store.open(check: check) { Issue.record("set aside: \($0)") }
        #expect(try db.query("SELECT count(*) > 0 FROM sqlite_master") == [[1]])
        db.close()
        #expect(try sqlError { try store.setAside(check: check) }.code == .notDamaged)
    }

    @Test(arguments: complaining, [SQLiteStore.Check.quick, .full])
    func `a row that broke a constraint before stops no migration`(script: String, check: SQLiteStore.Check)
        throws
    {
        let store = try Self.store(script)
        let isReplaced = try store.migrateStaged(check: check) {
            // Complaints that were there before are those of another table afterwards.
            try $0.execute(script: "ALTER TABLE g RENAME TO h; CREATE TABLE further(a)")
        }
        #expect(isReplaced)
    }

    @Test func `a complaint that is not so stops no migration`() throws {
        let store = try Self.store("CREATE TABLE t(a)")
        #expect(try store.migrateStaged(check: .quick) { try Self.run(Self.complaining[0], on: $0) })
    }

    @Test(arguments: [
        ("PRAGMA ignore_check_constraints = ON; INSERT INTO c VALUES (-1)", "CHECK constraint failed in c"),
        (
            """
            INSERT INTO n VALUES (NULL); PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = 'CREATE TABLE n(a NOT NULL)' WHERE name = 'n'
            """,
            "NULL value in n.a"
        ),
    ])
    func `a row that breaks a constraint only now keeps the copy from the store's place`(
        script: String,
        complaint: String
    ) throws {
        let old = """
            CREATE TABLE c(a CHECK (a > 0)); CREATE TABLE n(a); CREATE TABLE o(a CHECK (a > 0));
            PRAGMA ignore_check_constraints = ON; INSERT INTO o VALUES (-1)
            """
        let store = try Self.store(old)
        let error = try sqlError { try store.migrateStaged { try Self.run(script, on: $0) } }
        #expect(error.code == .constraintViolation)
        #expect(
            error.description
                == "\(try store.files.store): The migrated copy did not replace the store, because some of its rows"
                + " break a constraint: \(complaint). Fix these rows in the migration itself."
        )
    }

    /// An index that does not have what its statement says.
    private static let damaged = """
        CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2), (2, 3); CREATE INDEX i ON t(a);
        PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = 'CREATE INDEX i ON t(-a)' WHERE name = 'i'
        """

    private static let statementsThatDamage = """
        CREATE TABLE u(a); CREATE INDEX k ON u(a); INSERT INTO u VALUES (7); PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = 'CREATE INDEX k ON u(-a)' WHERE name = 'k'
        """

    @Test func `new damage stops a migration`() throws {
        let store = try Self.store("CREATE TABLE t(a)")
        let error = try sqlError {
            try store.migrateStaged { try Self.run(Self.statementsThatDamage, on: $0) }
        }
        #expect(error.code == .damaged)
        #expect(
            error.message
                == "The migrated copy is damaged, so it did not replace the store: row 1 missing from index k"
        )
    }

    @Test(arguments: ["CREATE TABLE further(a)", statementsThatDamage], [SQLiteStore.Check.quick, .full])
    func `a store with a damaged page replaces no backup`(script: String, check: SQLiteStore.Check) throws {
        let store = try Wreck.store()
        try store.migrateStaged(backupExtension: "bak") { try $0.query("CREATE TABLE earlier(a)") }
        try Wreck.damageLeaves(store.path)
        try expectDamagedBefore(store, script, check: check)
    }

    @Test(arguments: [
        "CREATE TABLE further(a)", "REINDEX", "CREATE TABLE u AS SELECT * FROM t; DROP TABLE t",
    ])
    func `a store with a damaged index replaces no backup, even if the migration repairs it`(script: String)
        throws
    {
        let store = try Self.store("CREATE TABLE earlier(a)")
        try store.migrateStaged(backupExtension: "bak") { try $0.query("DROP TABLE earlier") }
        try Self.run(Self.damaged, on: SQLiteConnection(path: store.path))
        try expectDamagedBefore(store, script, check: .full)
    }

    private func expectDamagedBefore(_ store: SQLiteStore, _ script: String, check: SQLiteStore.Check) throws
    {
        let before = try contents(of: TemporaryDirectory.current.path)
        #expect(Set(before.keys) == ["store", "store.bak"])
        let error = try sqlError {
            try store.migrateStaged(backupExtension: "bak", check: check) { try Self.run(script, on: $0) }
        }
        #expect(error.code == .damaged)
        let beginning = "\(try store.files.store): The store was damaged before the migration: "
        #expect(error.description.hasPrefix(beginning), "\(error)")
        #expect(error.message.hasSuffix(". The store was not replaced"))
        #expect(try contents(of: TemporaryDirectory.current.path) == before)
    }

    @Test func `without a check, and where no backup is replaced, a migration may repair a damaged store`()
        throws
    {
        let store = try Self.store(Self.damaged)
        #expect(try store.migrateStaged(check: .off) { try $0.query("CREATE TABLE further(a)") })
        #expect(try store.status(target: "", check: .full).text == "damaged nil")
        #expect(try store.migrateStaged(backupExtension: "bak") { try $0.query("REINDEX") })
        #expect(try store.status(target: "", check: .full).text != "damaged nil")
    }

    @Test func `damage behind many rows that break a constraint is found`() throws {
        // Whichever of the tables the check begins with.
        let rows = ["a", "z"].map { table in
            """
            CREATE TABLE \(table)(x CHECK (x < 0)); PRAGMA ignore_check_constraints = ON;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO \(table) SELECT i FROM n
            """
        }
        let store = try Self.store([rows[0], Self.damaged, rows[1]].joined(separator: ";"))
        #expect(try store.status(target: "", check: .full).text == "damaged nil")
    }

    @Test func `a complaint with the code of a failing disk is no damage`() throws {
        let complaints = [
            "Tree 3 page 7: unable to get the page. error code=266": Int32(266),
            "Tree 3 page 7 cell 1: btreeInitPage() returns error code 10": 10,
            "Tree 3 page 7: btreeInitPage() returns error code 11": nil,
            "row 1 missing from index by_body": nil,
        ]
        for (complaint, code) in complaints {
            var found: Int32?
            do { try Complaints.checkForFailure(complaint[...]) } catch {
                #expect(error.code == .fileFailure)
                found = error.extendedResultCode
            }
            #expect(found == code, "\(complaint)")
        }
    }

    @Test func `damage counts only if it is found twice`() throws {
        var failures = 0
        try withUnsafeMutablePointer(to: &failures) { failures in
            let db = try SQLiteConnection(path: ":memory:")
            try AppRegistrations.registerFailingCollation(on: db.handle, failures: failures)
            try Self.run(
                "CREATE TABLE g(a TEXT COLLATE failing UNIQUE); INSERT INTO g VALUES ('a'), ('b'), ('c')",
                on: db
            )
            failures.pointee = 1
            #expect(try Complaints(.full, of: db).damage == nil)
            #expect(failures.pointee == 0)
            failures.pointee = .max
            #expect(try Complaints(.full, of: db).damage != nil)
        }
    }
}
