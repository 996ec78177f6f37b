import AppMigrationsSQLite
import AppMigrationsSchema

extension SchemaPair {
    static let rebuilt = [
        SchemaPair(
            "a column in the middle",
            "CREATE TABLE t(a, c); INSERT INTO t VALUES (1, 3)",
            "CREATE TABLE t(a, b, c)",
            ["rebuild the table t"],
            query: "SELECT * FROM t",
            rows: [[1, nil, 3]]
        ),
        SchemaPair(
            "the order of columns",
            "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2)",
            "CREATE TABLE t(b, a)",
            ["rebuild the table t"],
            query: "SELECT * FROM t",
            rows: [[2, 1]]
        ),
        SchemaPair(
            "a UNIQUE column",
            "CREATE TABLE t(a)",
            "CREATE TABLE t(a, b UNIQUE)",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "a default that is not constant, though the table has no row yet",
            "CREATE TABLE t(a)",
            "CREATE TABLE t(a, b DEFAULT CURRENT_TIMESTAMP)",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "a stored generated column",
            "CREATE TABLE t(a); INSERT INTO t VALUES (1)",
            "CREATE TABLE t(a, b AS (a + 1) STORED)",
            ["rebuild the table t"],
            query: "SELECT b FROM t",
            rows: [[2]]
        ),
        SchemaPair(
            "a CHECK",
            "CREATE TABLE t(a)",
            "CREATE TABLE t(a CHECK (a > 0))",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "a CHECK whose text differs in case only",
            "CREATE TABLE t(a CHECK (a <> 'x'))",
            "CREATE TABLE t(a CHECK (a <> 'X'))",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "a text in double quotes that differs in case only",
            "CREATE TABLE t(a CHECK (a <> \"x\"))",
            "CREATE TABLE t(a CHECK (a <> \"X\"))",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "a collation",
            "CREATE TABLE t(a TEXT)",
            "CREATE TABLE t(a TEXT COLLATE NOCASE)",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "a default",
            "CREATE TABLE t(a DEFAULT 1)",
            "CREATE TABLE t(a DEFAULT 2)",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "a default that is a word, whose case counts",
            "CREATE TABLE t(a DEFAULT yes)",
            "CREATE TABLE t(a DEFAULT Yes)",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "a default in double quotes that is a column's name as well",
            "CREATE TABLE t(a DEFAULT \"b\", b)",
            "CREATE TABLE t(a DEFAULT b, b)",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "a type that is quoted like a constraint",
            "CREATE TABLE t(a [unique])",
            "CREATE TABLE t(a unique)",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "a type of the same affinity",
            "CREATE TABLE t(a INT)",
            "CREATE TABLE t(a BIGINT)",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "a name in another case",
            "CREATE TABLE t(a)",
            "CREATE TABLE T(A)",
            ["rebuild the table T"]
        ),
        SchemaPair(
            "a name that is a keyword in another case",
            "CREATE TABLE t(key, a); INSERT INTO t VALUES (1, 2)",
            "CREATE TABLE t(KEY, a)",
            ["rebuild the table t"],
            query: "SELECT m.name, t.key FROM pragma_table_info('t') AS m, t WHERE m.cid = 0",
            rows: [["KEY", 1]]
        ),
        SchemaPair(
            "WITHOUT ROWID",
            "CREATE TABLE t(a TEXT PRIMARY KEY NOT NULL)",
            "CREATE TABLE t(a TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "STRICT",
            "CREATE TABLE t(a TEXT)",
            "CREATE TABLE t(a TEXT) STRICT",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "AUTOINCREMENT",
            "CREATE TABLE t(a INTEGER PRIMARY KEY)",
            "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT)",
            ["rebuild the table t"]
        ),
        SchemaPair(
            "a foreign key, beside an index and a trigger that stay",
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(a, b); CREATE INDEX i ON t(a);
            CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END; INSERT INTO p VALUES (1); INSERT INTO t VALUES (1, 1)
            """,
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(a REFERENCES p ON DELETE CASCADE, b);
            CREATE INDEX i ON t(a); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END;
            """,
            ["rebuild the table t"],
            query: "SELECT * FROM t",
            rows: [[1, 1]]
        ),
        SchemaPair(
            "a column that may go, with its index, view and trigger",
            """
            CREATE TABLE t(a, b); CREATE INDEX i ON t(b); CREATE VIEW v AS SELECT b FROM t; INSERT INTO t VALUES (1, 2);
            CREATE TRIGGER r AFTER UPDATE OF b ON t BEGIN SELECT 1; END
            """,
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t",
            [
                "drop the trigger r", "drop the view v", "drop the index i", "rebuild the table t",
                "create the view v",
            ],
            hints: .init(droppedColumns: ["t": ["B"]]),
            query: "SELECT * FROM v",
            rows: [[1]]
        ),
    ]
}
