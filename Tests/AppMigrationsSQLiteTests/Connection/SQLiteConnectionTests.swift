import AppMigrations
import AppMigrationsSQLite
import Foundation
import Testing

@Suite(.temporaryDirectory) struct SQLiteConnectionTests {
    let folder = TemporaryDirectory.current.path

    static let values: [SQLValue] = [
        .null, 0, -1, .integer(.max), .integer(.min), 1.5, .real(.infinity), "", "é\u{0}x", .blob([]),
        .blob([0, 255]),
    ]

    @Test(arguments: values) func `a value comes back as it was bound`(value: SQLValue) throws {
        #expect(try memory().query("SELECT ?", [value]) == [[value]])
    }

    @Test(
        arguments: [
            ("", [], "The query is empty"),
            (" -- nothing", [], "The query is empty"),
            (
                "SELECT 1; SELECT 2", [],
                "The query has more than one statement. To run several, use execute(script:)"
            ),
            ("SELECT 1;\0 DROP TABLE a", [], "A query must not contain a zero byte"),
            ("SELECT ?", [], "The statement has 1 parameters, and 0 arguments were given"),
            ("SELECT 1", [1], "The statement has 0 parameters, and 1 arguments were given"),
        ] as [(String, [SQLValue], String)]
    )
    func `a query is one statement with as many arguments as parameters`(
        sql: String,
        arguments: [SQLValue],
        message: String
    ) throws {
        let error = try sqlError { try memory().query(sql, arguments) }
        #expect(error.code == .invalidQuery)
        #expect(error.message == message)
    }

    @Test func `comments and semicolons may follow a query`() throws {
        #expect(try memory().query("SELECT 1; ; -- done\n/* really */") == [[1]])
    }

    @Test func `an error has SQLite's code, its words and the statement`() throws {
        let db = try memory()
        try db.query("CREATE TABLE a(x UNIQUE)")
        try db.query("INSERT INTO a VALUES (1)")
        let error = try sqlError { try db.query("INSERT INTO a VALUES (1)") }
        #expect(error.extendedResultCode == 2067)
        #expect(
            error.description == "UNIQUE constraint failed: a.x (SQLite error 2067)."
                + " Statement: INSERT INTO a VALUES (1);"
        )
    }

    @Test func `a text that is not UTF-8 is an error and not repaired`() throws {
        let error = try sqlError { try memory().query("SELECT CAST(x'ff' AS TEXT) AS body") }
        #expect(error.code == .invalidText)
        #expect(error.message.contains("column body"))
    }

    @Test(arguments: [false, true]) func `an error names the file of its database`(isBorrowed: Bool) throws {
        let path = folder + "/db"
        let owner = try SQLiteConnection(path: path)
        let db = isBorrowed ? owner.borrowed : owner
        try db.query("CREATE TABLE a(x UNIQUE)")
        let failing: [() throws -> Void] = [
            { try db.query("SELECT nothing") },
            { try db.query("") },
            { try db.query("SELECT ?") },
            { try db.query("SELECT CAST(x'ff' AS TEXT)") },
            { try db.execute(script: "/*") },
            { try db.execute(script: "SELECT nothing") },
            { _ = try db.fetch(Int.self, "SELECT 'a'") },
            { try db.insert([["x": Double.nan]], into: "a") },
            { try db.insert([["y": 1]], into: "a") },
            { try db.transaction { for _ in 1...2 { try db.query("INSERT INTO a VALUES (1)") } } },
            { try Migrator([Migration(version: 1, sql: "SELECT nothing")]).migrate(db) },
            { try Migrator([Migration(version: 1, sql: "")]).migrate(db, insideTransaction: true) },
        ]
        for body in failing { #expect(try sqlError { try body() }.path == path) }
        let error = try sqlError { try db.query("SELECT absent") }
        #expect(error.description == "\(path): line 1, column 8: no such column: absent (SQLite error 1).")
        try db.query("BEGIN")
        try db.query("INSERT OR ROLLBACK INTO a VALUES (1)")
        #expect(throws: SQLError.self) { try db.query("INSERT OR ROLLBACK INTO a VALUES (1)") }
        let ended = try sqlError { try db.query("SELECT 1") }
        #expect(ended.code == .transactionEnded)
        #expect(ended.path == path)
        db.close()
        #expect(try sqlError { try db.query("SELECT 1") }.path == path)
    }

    @Test func `values are made of variables, and written as in SQL`() {
        let (number, text, nothing): (Int, String, String?) = (7, "It's", nil)
        let values = [
            SQLValue(number), SQLValue(Int64.min), SQLValue(1.5 as Double), SQLValue(true), SQLValue(text),
            SQLValue(nothing), SQLValue([0, 255] as [UInt8]),
        ]
        #expect(values == [7, .integer(.min), 1.5, 1, "It's", nil, .blob([0, 255])])
        #expect("\(values)" == "[7, -9223372036854775808, 1.5, 1, 'It''s', NULL, x'00ff']")
    }

    @Test func `a path that is empty, cut off or not there is refused`() throws {
        #expect(try sqlError { try SQLiteConnection(path: "") }.code == .cannotOpen)
        #expect(try sqlError { try SQLiteConnection(path: "a\0b") }.code == .cannotOpen)
        let error = try sqlError { try SQLiteConnection(path: folder + "/none", readOnly: true) }
        #expect(error.code == .cannotOpen)
        #expect(error.path == folder + "/none")
        let missing = try sqlError { try SQLiteConnection(path: folder + "/none/db") }
        for error in [error, missing] {
            #expect(
                error.message
                    == "unable to open database file. Its folder must exist. A missing file is created only if it is "
                    + "opened for writing"
            )
        }
    }

    @Test func `a read-only connection changes nothing`() throws {
        try SQLiteConnection(path: folder + "/db").query("CREATE TABLE a(x)")
        let db = try SQLiteConnection(path: folder + "/db", readOnly: true)
        #expect(try sqlError { try db.query("INSERT INTO a VALUES (1)") }.code == .readOnly)
        #expect(try db.query("SELECT count(*) FROM a") == [[0]])
    }

    @Test func `a closed connection says so`() throws {
        let db = try memory()
        db.close()
        db.close()
        db.interrupt()
        #expect(try sqlError { try db.query("SELECT 1") }.code == .closed)
        #expect(try sqlError { try db.execute(script: "SELECT 1") }.code == .closed)
        #expect(try sqlError { try db.isInTransaction }.code == .closed)
    }

    @Test func `in a transaction a script may use what makes savepoints of its own`() throws {
        let db = try database("CREATE VIRTUAL TABLE f USING fts4(a); INSERT INTO f VALUES ('x')")
        try db.transaction {
            try db.execute(script: "SELECT optimize(f) FROM f LIMIT 1; INSERT INTO f(f) VALUES ('rebuild')")
        }
    }

    @Test func `a temporary table of a child's name hides no row that a DROP would delete`() throws {
        let db = try database(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p(id) ON DELETE CASCADE);
            INSERT INTO p VALUES (1); INSERT INTO c VALUES (1); CREATE TEMP TABLE c(x)
            """
        )
        try db.query("BEGIN")
        #expect(try sqlError { try db.execute(script: "DROP TABLE p") }.code == .refusedStatement)
        #expect(try db.query("SELECT count(*) FROM main.c") == [[1]])
    }

    @Test func `the number in the header is read`() throws {
        let db = try memory()
        try db.query("PRAGMA user_version = 7")
        #expect(try db.userVersion == 7)
    }

    @Test func `another thread can stop a statement`() throws {
        let db = try memory()
        let isStopped = Guarded(false)
        // A thread and no task: there may be none free for it while this one waits for the statement. An interrupt before the
        // statement runs has no effect, so it is repeated until the statement is done.
        Thread.detachNewThread {
            while !isStopped.withLock({ $0 }) {
                db.interrupt()
                sched_yield()
            }
            // By the thread, which may still look at it when the test is over.
        }
        #expect(try sqlError { try db.query(endless) }.code == .cancelled)
        isStopped.withLock { $0 = true }
    }

    @Test func `a cancelled task stops its statement`() async throws {
        let db = try memory()
        let statement = Task { try sqlError { try db.query(endless) } }
        statement.cancel()
        #expect(try await statement.value.code == .cancelled)
        #expect(try db.query("SELECT 1") == [[1]])
    }
}

/// A query that takes minutes.
private let endless = """
    WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 10000000000) SELECT count(*) FROM n
    """

/// The errors of a database that can't be read, wherever a statement meets the damage.
@Suite(.temporaryDirectory) struct DamageTests {
    let folder = TemporaryDirectory.current.path

    @Test(arguments: [false, true])
    func `damage inside a table is no mistake of the migration`(isBorrowed: Bool) throws {
        let path = folder + "/db"
        try Wreck.makeDamagedInside(path)
        let owner = try SQLiteConnection(path: path)
        let db = isBorrowed ? owner.borrowed : owner
        let file = folder + "/1_wide.sql"
        try write("-- A comment.\nUPDATE note SET body = body || 'x' WHERE body <> ''", to: file)
        let error = try sqlError { try Migrator(Migration.files(in: folder)).migrate(db) }
        #expect(error.code == .damaged)
        #expect((error.extendedResultCode ?? 0) & 0xFF == 11)
        #expect(error.path == owner.path)
        #expect(
            error.description.hasSuffix(
                "No migration can repair it. SQLiteStore.open(check:) looks for damage, and sets a damaged store aside."
            )
        )
    }

    @Test func `a file that is no database has no place in a statement`() throws {
        try write("a text", to: folder + "/db")
        let db = try SQLiteConnection(path: folder + "/db")
        let errors = try [
            sqlError { try db.query("SELECT 1 FROM sqlite_master") },
            sqlError { try db.execute(script: "CREATE TABLE a(x)") },
            sqlError { try Migrator([Migration(version: 1, sql: "CREATE TABLE a(x)")]).migrate(db) },
            sqlError { try Migrator([Migration(version: 1, sql: "CREATE TABLE a(x)")]).status(db) },
        ]
        for error in errors {
            #expect(error.code == .damaged)
            #expect(error.extendedResultCode == 26)
            #expect(error.line == nil && error.column == nil)
        }
    }
}
