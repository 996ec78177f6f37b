import AppMigrationsSQLite
import AppMigrationsSchema

extension SchemaPair {
    /// Changes of the table t: a name for the test, and the text behind `t` before and afterwards.
    static let redefined = [
        ("a UNIQUE column", "(a)", "(a, b UNIQUE)"),
        (
            "a default that is not constant, though the table has no row yet", "(a)",
            "(a, b DEFAULT CURRENT_TIMESTAMP)"
        ),
        ("a CHECK", "(a)", "(a CHECK (a > 0))"),
        ("a CHECK whose text differs in case only", "(a CHECK (a <> 'x'))", "(a CHECK (a <> 'X'))"),
        (
            "a text in double quotes that differs in case only", "(a CHECK (a <> \"x\"))",
            "(a CHECK (a <> \"X\"))"
        ),
        ("a collation", "(a TEXT)", "(a TEXT COLLATE NOCASE)"),
        ("a default", "(a DEFAULT 1)", "(a DEFAULT 2)"),
        ("a default that is a word, whose case counts", "(a DEFAULT yes)", "(a DEFAULT Yes)"),
        (
            "a default in double quotes that is a column's name as well", "(a DEFAULT \"b\", b)",
            "(a DEFAULT b, b)"
        ),
        ("a type that is quoted like a constraint", "(a [unique])", "(a unique)"),
        ("a type of the same affinity", "(a INT)", "(a BIGINT)"),
        ("WITHOUT ROWID", "(a TEXT PRIMARY KEY NOT NULL)", "(a TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID"),
        ("STRICT", "(a INTEGER PRIMARY KEY, b)", "(a INTEGER PRIMARY KEY, b ANY) STRICT"),
        ("AUTOINCREMENT", "(a INTEGER PRIMARY KEY)", "(a INTEGER PRIMARY KEY AUTOINCREMENT)"),
    ].map { SchemaPair($0, "CREATE TABLE t\($1)", "CREATE TABLE t\($2)", ["rebuild the table t"]) }

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
            "a stored generated column",
            "CREATE TABLE t(a); INSERT INTO t VALUES (1)",
            "CREATE TABLE t(a, b AS (a + 1) STORED)",
            ["rebuild the table t"],
            query: "SELECT b FROM t",
            rows: [[2]]
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
