import AppMigrationsSQLite

extension Kept {
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
            values: ["a": "a", "b": "b"],
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
                CREATE TEMP TABLE t(z); INSERT INTO temp.t VALUES (2);
                CREATE TEMP TRIGGER q AFTER INSERT ON temp.t BEGIN SELECT 1; END
                """,
            createTable: "CREATE TABLE t(a, b)",
            query: """
                SELECT a, b, z, (SELECT count(*) FROM main.sqlite_master), (SELECT count(*) FROM temp.sqlite_master)
                FROM main.t, temp.t
                """,
            rows: [[1, nil, 2, 3, 2]]
        ),
    ]
}
