import AppMigrationsSQLite
import Testing

/// What is kept when a table is made anew: one row for each fact.
struct Kept: Sendable, CustomTestStringConvertible {
    let fact: String
    let before: String
    var table = "t"
    let createTable: String
    var values: [String: String] = [:]
    var dropping: [String] = []
    var then = ""
    let query: String
    let rows: [[SQLValue]]

    var testDescription: String { fact }

    static let rowIDs = [
        Kept(
            fact: "row ids",
            before: "CREATE TABLE t(a); INSERT INTO t(rowid, a) VALUES (7, 'x'), (3, 'y')",
            createTable: "CREATE TABLE t(a, b)",
            query: "SELECT rowid, a, b FROM t",
            rows: [[3, "y", nil], [7, "x", nil]]
        ),
        Kept(
            fact: "row ids where a column hides the word rowid before and _rowid_ afterwards",
            before: "CREATE TABLE t(rowid, a); INSERT INTO t(_rowid_, rowid, a) VALUES (7, 'x', 'y')",
            createTable: "CREATE TABLE t(RowID, a, _rowid_)",
            query: "SELECT oid, rowid, a, _rowid_ FROM t",
            rows: [[7, "x", "y", nil]]
        ),
        Kept(
            fact: "rows where columns hide all three words",
            before: "CREATE TABLE t(rowid, _rowid_, oid); INSERT INTO t VALUES (7, 8, 9), (1, 2, 3)",
            createTable: "CREATE TABLE t(rowid, _rowid_, oid, a DEFAULT 5)",
            query: "SELECT * FROM t",
            rows: [[7, 8, 9, 5], [1, 2, 3, 5]]
        ),
        Kept(
            fact: "row ids as an INTEGER PRIMARY KEY that comes anew",
            before: "CREATE TABLE t(a); INSERT INTO t(rowid, a) VALUES (7, 'x')",
            createTable: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)",
            query: "SELECT id, a FROM t",
            rows: [[7, "x"]]
        ),
        Kept(
            fact: "an INTEGER PRIMARY KEY that becomes a plain column",
            before: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (7, 'x')",
            createTable: "CREATE TABLE t(id, a)",
            query: "SELECT rowid, id, a FROM t",
            rows: [[7, 7, "x"]]
        ),
        Kept(
            fact: "INTEGER PRIMARY KEY DESC and the row ids, which are not the same",
            before: """
                CREATE TABLE t(id INTEGER PRIMARY KEY DESC, a); INSERT INTO t(rowid, id, a) VALUES (1, 20, 'x'), (2, 10, 'y')
                """,
            createTable: "CREATE TABLE t(id INTEGER PRIMARY KEY DESC, a, b)",
            query: "SELECT rowid, id, a FROM t",
            rows: [[1, 20, "x"], [2, 10, "y"]]
        ),
        Kept(
            fact: "a key that was INTEGER PRIMARY KEY DESC",
            before: "CREATE TABLE t(id INTEGER PRIMARY KEY DESC); INSERT INTO t(rowid, id) VALUES (1, 20)",
            createTable: "CREATE TABLE t(id INTEGER PRIMARY KEY)",
            query: "SELECT rowid, id FROM t",
            rows: [[20, 20]]
        ),
        Kept(
            fact: "rows of a table that becomes WITHOUT ROWID",
            before: "CREATE TABLE t(k TEXT PRIMARY KEY, a); INSERT INTO t VALUES ('z', 1), ('b', 2)",
            createTable: "CREATE TABLE t(k TEXT PRIMARY KEY, a) WITHOUT ROWID",
            query: "SELECT k, a FROM t",
            rows: [["b", 2], ["z", 1]]
        ),
        Kept(
            fact: "rows of a table that was WITHOUT ROWID",
            before:
                "CREATE TABLE t(k TEXT PRIMARY KEY, a) WITHOUT ROWID; INSERT INTO t VALUES ('z', 1), ('b', 2)",
            createTable: "CREATE TABLE t(k TEXT PRIMARY KEY, a)",
            query: "SELECT rowid, k, a FROM t",
            rows: [[1, "b", 2], [2, "z", 1]]
        ),
        Kept(
            fact: "a key whose value is given",
            before: "CREATE TABLE t(a); INSERT INTO t(rowid, a) VALUES (7, 'x')",
            createTable: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)",
            values: ["id": "rowid * 10"],
            query: "SELECT id, a FROM t",
            rows: [[70, "x"]]
        ),
    ]

    static let counters = [
        Kept(
            fact: "the counter of AUTOINCREMENT above the rows",
            before: """
                CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a); INSERT INTO t VALUES (50, 'x'), (2, 'y');
                DELETE FROM t WHERE id = 50
                """,
            createTable: "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a, b)",
            then: "INSERT INTO t(a) VALUES ('z')",
            query: "SELECT id FROM t UNION ALL SELECT count(*) FROM sqlite_sequence",
            rows: [[2], [51], [1]]
        ),
        Kept(
            fact: "the counter of an empty table",
            before: """
                CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a); INSERT INTO t VALUES (50, 'x'); DELETE FROM t
                """,
            createTable: "CREATE TABLE T(id INTEGER PRIMARY KEY AUTOINCREMENT, a, b)",
            then: "INSERT INTO t(a) VALUES ('z')",
            query: "SELECT id, name FROM t, sqlite_sequence",
            rows: [[51, "T"]]
        ),
        Kept(
            fact: "the counter where a new key is higher",
            before: """
                CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES (50)
                """,
            createTable: "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT)",
            values: ["id": "id * 2"],
            then: "INSERT INTO t DEFAULT VALUES",
            query: "SELECT id FROM t",
            rows: [[100], [101]]
        ),
        Kept(
            fact: "AUTOINCREMENT that is added",
            before: "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (50)",
            createTable: "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT)",
            then: "DELETE FROM t; INSERT INTO t DEFAULT VALUES",
            query: "SELECT id FROM t",
            rows: [[51]]
        ),
        Kept(
            fact: "no counter of AUTOINCREMENT that is removed",
            before: """
                CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES (50); DELETE FROM t
                """,
            createTable: "CREATE TABLE t(id INTEGER PRIMARY KEY)",
            then: "INSERT INTO t DEFAULT VALUES",
            query: "SELECT id, (SELECT count(*) FROM sqlite_sequence) FROM t",
            rows: [[1, 0]]
        ),
        Kept(
            fact: "the counter of another table",
            before: """
                CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES (50);
                CREATE TABLE u(id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO u VALUES (9)
                """,
            createTable: "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT)",
            query: "SELECT name, seq FROM sqlite_sequence ORDER BY name",
            rows: [["t", 50], ["u", 9]]
        ),
    ]

    static let columns = [
        Kept(
            fact: "generated columns that become plain ones",
            before: """
                CREATE TABLE t(a, v AS (a + 1), s AS (a * 2) STORED); INSERT INTO t(a) VALUES (5)
                """,
            createTable: "CREATE TABLE t(a, v, s)",
            then: "UPDATE t SET a = 0",
            query: "SELECT a, v, s FROM t",
            rows: [[0, 6, 10]]
        ),
        Kept(
            fact: "the rest where plain columns become generated ones",
            before: "CREATE TABLE t(a, v, s); INSERT INTO t VALUES (5, 1, 1)",
            createTable: "CREATE TABLE t(a, v AS (a + 1), s AS (a * 2) STORED)",
            dropping: ["v", "s"],
            query: "SELECT a, v, s FROM t",
            rows: [[5, 6, 10]]
        ),
        Kept(
            fact: "rows that ON CONFLICT clauses would leave out or replace",
            before: "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 'x'), (2, 'y')",
            createTable: """
                CREATE TABLE t(a UNIQUE ON CONFLICT IGNORE, b NOT NULL ON CONFLICT REPLACE DEFAULT 'z')
                """,
            then: "INSERT INTO t VALUES (1, 'again')",
            query: "SELECT a, b FROM t",
            rows: [[1, "x"], [2, "y"]]
        ),
        Kept(
            fact: "values that an expression makes of several columns",
            before: "CREATE TABLE t(first, last); INSERT INTO t VALUES ('Ada', 'Lovelace')",
            createTable: "CREATE TABLE t(name, initial)",
            values: ["name": "first || ' ' || t.last -- both", "initial": "substr(first, 1, 1)"],
            query: "SELECT name, initial FROM t",
            rows: [["Ada Lovelace", "A"]]
        ),
        Kept(
            fact: "values that an expression takes from another table",
            before: """
                CREATE TABLE u(id, name); INSERT INTO u VALUES (1, 'one');
                CREATE TABLE t(u); INSERT INTO t VALUES (1)
                """,
            createTable: "CREATE TABLE t(u)",
            values: ["u": "(SELECT name FROM u WHERE `id` = t.u)"],
            query: "SELECT u FROM t",
            rows: [["one"]]
        ),
        Kept(
            fact: "columns whose names differ in the case of ASCII letters",
            before: "CREATE TABLE t(Name, OTHER); INSERT INTO t VALUES (1, 2)",
            createTable: "CREATE TABLE t(NAME, other)",
            query: "SELECT name, other FROM t",
            rows: [[1, 2]]
        ),
        Kept(
            fact: "columns whose names differ in the case of other letters, which are two to SQLite",
            before: "CREATE TABLE t(é, É, i); INSERT INTO t VALUES (1, 2, 3)",
            createTable: "CREATE TABLE t(É, é, i, ı)",
            query: "SELECT é, É, i, ı FROM t",
            rows: [[1, 2, 3, nil]]
        ),
        Kept(
            fact: "columns whose names differ in how an accent is written",
            before: "CREATE TABLE t(e\u{301}, \u{e9}); INSERT INTO t VALUES (1, 2)",
            createTable: "CREATE TABLE t(\u{e9}, e\u{301}, x)",
            query: "SELECT e\u{301}, \u{e9} FROM t",
            rows: [[1, 2]]
        ),
        Kept(
            fact: "quoted names",
            before: """
                CREATE TABLE "a ""b"".c"("x y" , [select], `it's`, "q""q"); INSERT INTO "a ""b"".c" VALUES (1, 2, 3, 4)
                """,
            table: "a \"b\".c",
            createTable: """
                CREATE TABLE [a "b".c](`x y`, "select", "it's", 'q"q', n)
                """,
            query: "SELECT * FROM `a \"b\".c`",
            rows: [[1, 2, 3, 4, nil]]
        ),
        Kept(
            fact: "the table under a name in another case, found by any",
            before: "CREATE TABLE AppUser(a); INSERT INTO AppUser VALUES (1)",
            table: "APPUSER",
            createTable: "CREATE TABLE appUser(a, b)",
            query: "SELECT name, a FROM sqlite_master, appuser WHERE type = 'table'",
            rows: [["appUser", 1]]
        ),
        Kept(
            fact: "rows that fit a STRICT table",
            before: "CREATE TABLE t(a INTEGER, b TEXT, c); INSERT INTO t VALUES (1, 2, x'00')",
            createTable: "CREATE TABLE t(a INTEGER, b TEXT, c ANY) STRICT",
            query: "SELECT a, b, c FROM t",
            rows: [[1, "2", .blob([0])]]
        ),
        Kept(
            fact: "the statement of the new table, word for word",
            before: "CREATE TABLE t(a)",
            createTable: "create table  if not exists  main.t ( a /* kept */ , b\n) ; -- end",
            query: "SELECT sql FROM sqlite_master",
            rows: [["CREATE TABLE t ( a /* kept */ , b\n)"]]
        ),
        Kept(
            fact: "rows under a CHECK that names the table",
            before: """
                CREATE TABLE t(a REAL CHECK (t.a > 0), b AS (a + 1), c TEXT); INSERT INTO t(rowid, a, c) VALUES (9, 1, '7'), (4, 2, 8);
                CREATE INDEX i ON t(a) WHERE t.a > 1; CREATE TRIGGER r AFTER DELETE ON t BEGIN SELECT t.a FROM t; END
                """,
            createTable: "CREATE TABLE t(a REAL CHECK (t.a >= 0), c TEXT CHECK (t.c <> ''), b, d)",
            query: "SELECT rowid, a, typeof(a), c, typeof(c), b, d FROM t",
            rows: [[4, 2.0, "real", "8", "text", 3.0, nil], [9, 1.0, "real", "7", "text", 2.0, nil]]
        ),
        Kept(
            fact: "every kind of value where a column has no type",
            before: "CREATE TABLE t(a); INSERT INTO t VALUES (1), (1.0), ('1'), (x'31'), (NULL)",
            createTable: "CREATE TABLE t(a, b)",
            query: "SELECT typeof(a) FROM t",
            rows: [["integer"], ["real"], ["text"], ["blob"], ["null"]]
        ),
        Kept(
            fact: "a table while its own name for the time between is taken",
            before: """
                CREATE TABLE t(a); INSERT INTO t VALUES (1); CREATE VIEW app_migrations_1 AS SELECT 1;
                CREATE TEMP TABLE App_Migrations_2(x)
                """,
            createTable: "CREATE TABLE t(a, b)",
            query: "SELECT a, b FROM t",
            rows: [[1, nil]]
        ),
        Kept(
            fact: "a table that a temporary one hides, and that one",
            before: """
                CREATE TABLE t(a); INSERT INTO t VALUES (1); CREATE INDEX i ON t(a);
                CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END;
                CREATE TEMP TABLE t(z); INSERT INTO temp.t VALUES (2)
                """,
            createTable: "CREATE TABLE t(a, b)",
            query: """
                SELECT a, b, z, (SELECT count(*) FROM main.sqlite_master), (SELECT count(*) FROM temp.sqlite_master)
                FROM main.t, temp.t
                """,
            rows: [[1, nil, 2, 3, 1]]
        ),
    ]
}

@Suite struct TableRebuildTests {
    @Test(arguments: Kept.rowIDs + Kept.counters + Kept.columns)
    func `a table made anew keeps`(_ kept: Kept) throws {
        let db = try database(kept.before)
        try TableRebuild(kept.table, as: kept.createTable, values: kept.values, dropping: kept.dropping).run(
            db
        )
        try db.execute(script: kept.then)
        #expect(try db.query(kept.query) == kept.rows)
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
        #expect(try db.query("PRAGMA legacy_alter_table") == [[0]])
        #expect(try db.query("PRAGMA integrity_check") == [["ok"]])
        #expect(!(try tables(in: db).contains { $0.hasPrefix("app_migrations") }))
    }

    @Test func `rows that refer to the table stay, whatever would happen on a deletion`() throws {
        let db = try database(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, parent REFERENCES p(id) ON DELETE CASCADE, name);
            CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(id) ON DELETE CASCADE);
            CREATE TABLE n(id INTEGER PRIMARY KEY, p REFERENCES P ON DELETE SET NULL);
            INSERT INTO p VALUES (1, NULL, 'x'), (2, 1, 'y'); INSERT INTO c VALUES (10, 1); INSERT INTO n VALUES (20, 2);
            """
        )
        try TableRebuild(
            "p",
            as:
                "CREATE TABLE p(id INTEGER PRIMARY KEY, parent REFERENCES p(id) ON DELETE CASCADE, name TEXT NOT NULL)"
        ).run(db)
        #expect(try db.query("SELECT * FROM p") == [[1, nil, "x"], [2, 1, "y"]])
        #expect(try db.query("SELECT * FROM c UNION ALL SELECT * FROM n") == [[10, 1], [20, 2]])
        let tables = try db.query(#"SELECT "table" FROM pragma_foreign_key_list('c')"#)
        #expect(tables == [["p"]])
        try db.query("DELETE FROM p WHERE id = 1")
        #expect(try db.query("SELECT * FROM p UNION ALL SELECT *, 0 FROM c") == [])
        #expect(try db.query("SELECT * FROM n") == [[20, nil]])
    }

    @Test func `rows that referred to none before are tolerated, new ones are not`() throws {
        let script = """
            CREATE TABLE p(id INTEGER PRIMARY KEY, key TEXT UNIQUE); CREATE TABLE c(p REFERENCES p(key));
            INSERT INTO p VALUES (1, 'a'); INSERT INTO c VALUES ('a'), ('lost');
            """
        let createTable = "CREATE TABLE p(id INTEGER PRIMARY KEY, key TEXT UNIQUE, more)"
        let db = try database(script, foreignKeys: false)
        try db.query("PRAGMA foreign_keys = ON")
        try TableRebuild("p", as: createTable).run(db)
        let error = try refused(db) {
            try TableRebuild("p", as: createTable, values: ["key": "key || '!'"]).run(db)
        }
        #expect(error.code == .brokenReference)
        #expect(
            error.description
                == "Rebuilding the table p: It leaves rows that refer to none: c (rowid 1) refers to"
                + " no row of p; c (rowid 2) refers to no row of p. The table and its rows are as they were."
        )
    }

    @Test func `what ANALYZE found out is there afterwards, but not of an index that is another`() throws {
        let db = try database(
            """
            CREATE TABLE t(a UNIQUE, b UNIQUE, c); CREATE INDEX i ON t(b, c); CREATE INDEX gone ON t(c);
            INSERT INTO t VALUES (1, 2, 3), (4, 5, 3); CREATE TABLE u(a); INSERT INTO u VALUES (1); ANALYZE;
            """
        )
        let statistics = "SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx"
        let before = try db.query(statistics)
        #expect(before.count == 5)
        try TableRebuild(
            "t",
            as: "CREATE TABLE t(a UNIQUE, c UNIQUE ON CONFLICT IGNORE, b)",
            values: ["c": "a"],
            dropping: ["gone"]
        )
        .run(db)
        let kept = before.filter { $0[1] != "gone" && $0[1] != "sqlite_autoindex_t_2" }
        #expect(try db.query(statistics) == kept)
    }

    @Test func `what ANALYZE found out of a table without row ids is there afterwards`() throws {
        let db = try database(
            "CREATE TABLE t(a PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t VALUES (1, 2); ANALYZE"
        )
        let before = try db.query("SELECT * FROM sqlite_stat1")
        try TableRebuild("t", as: "CREATE TABLE t(a PRIMARY KEY, b, c) WITHOUT ROWID").run(db)
        #expect(try db.query("SELECT * FROM sqlite_stat1") == before)
    }

    @Test func `another library's connection does`() throws {
        let db = try database("CREATE TABLE t(a); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT a FROM t")
        try TableRebuild("t", as: "CREATE TABLE t(a, b)").run(Foreign(db: db))
        #expect(try db.query("SELECT a, b FROM t") == [[1, nil]])
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
        let error = try refused(db) {
            try TableRebuild("t", as: "CREATE TABLE t(b)", dropping: ["a"]).run(Foreign(db: db))
        }
        #expect(error.code == .brokenObject)
    }
}

/// A connection that has no more than the protocol asks for.
struct Foreign: SQLConnection {
    let db: SQLiteConnection

    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] { try db.query(sql, arguments) }

    func execute(script: String) throws { try db.execute(script: script) }
}
