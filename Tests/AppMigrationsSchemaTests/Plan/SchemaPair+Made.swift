import AppMigrationsSQLite
import AppMigrationsSchema

extension SchemaPair {
    static let made = [
        SchemaPair(
            "an empty database",
            "",
            """
            CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t; CREATE INDEX i ON t(a);
            CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END;
            CREATE TRIGGER s INSTEAD OF INSERT ON v BEGIN SELECT 2; END;
            """,
            [
                "create the table t", "create the index i", "create the view v", "create the trigger r",
                "create the trigger s",
            ]
        ),
        SchemaPair("a virtual table", "", "CREATE VIRTUAL TABLE f USING fts5(a)", ["create the table f"]),
        SchemaPair(
            "a view in another case",
            "CREATE VIEW v AS SELECT 1 AS name",
            "CREATE VIEW v AS SELECT 1 AS Name",
            ["drop the view v", "create the view v"]
        ),
        SchemaPair(
            "a view whose column is named by a keyword in another case",
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT a AS key FROM t; CREATE VIEW w(end) AS select a from t",
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT a AS KEY FROM t; CREATE VIEW w(END) AS SELECT a FROM t",
            ["drop the view v", "drop the view w", "create the view v", "create the view w"]
        ),
        SchemaPair(
            "an index that becomes unique",
            "CREATE TABLE t(a); CREATE INDEX i ON t(a)",
            "CREATE TABLE t(a); CREATE UNIQUE INDEX i ON t(a)",
            ["drop the index i", "create the index i"]
        ),
        SchemaPair(
            "an index that gets a collation, another a direction",
            "CREATE TABLE t(a); CREATE INDEX i ON t(a); CREATE INDEX j ON t(a)",
            "CREATE TABLE t(a); CREATE INDEX i ON t(a COLLATE nocase); CREATE INDEX j ON t(a DESC)",
            ["drop the index i", "drop the index j", "create the index i", "create the index j"]
        ),
        SchemaPair(
            "an index of another table",
            "CREATE TABLE t(a); CREATE TABLE u(a); CREATE INDEX i ON t(a)",
            "CREATE TABLE t(a); CREATE TABLE u(a); CREATE INDEX i ON u(a)",
            ["drop the index i", "create the index i"]
        ),
        SchemaPair(
            "a trigger whose text in quotes differs in case only",
            "CREATE TABLE t(a); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 'x'; END",
            "CREATE TABLE t(a); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 'X'; END",
            ["drop the trigger r", "create the trigger r"]
        ),
        SchemaPair(
            "a view that changes, and its trigger that does not",
            """
            CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t;
            CREATE TRIGGER r INSTEAD OF DELETE ON v BEGIN SELECT 1; END
            """,
            """
            CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t WHERE a > 0;
            CREATE TRIGGER r INSTEAD OF DELETE ON v BEGIN SELECT 1; END
            """,
            ["drop the trigger r", "drop the view v", "create the view v", "create the trigger r"]
        ),
        SchemaPair(
            "indexes, views and triggers that go",
            """
            CREATE TABLE t(a); CREATE INDEX i ON t(a); CREATE VIEW v AS SELECT 1;
            CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END
            """,
            "CREATE TABLE t(a)",
            ["drop the trigger r", "drop the view v", "drop the index i"]
        ),
        SchemaPair(
            "a table that may go",
            "CREATE TABLE t(a); CREATE INDEX i ON t(a); CREATE TABLE u(b)",
            "CREATE TABLE u(b)",
            ["drop the table t"],
            hints: .init(droppedTables: ["T"])
        ),
        SchemaPair(
            "a table that becomes a view",
            "CREATE TABLE t(a)",
            "CREATE TABLE u(a); CREATE VIEW t AS SELECT a FROM u",
            ["create the table u", "drop the table t", "create the view t"],
            hints: .init(droppedTables: ["t"])
        ),
        SchemaPair(
            "a view that becomes a table",
            "CREATE VIEW t AS SELECT 1 AS a",
            "CREATE TABLE t(a)",
            ["drop the view t", "create the table t"]
        ),
        SchemaPair(
            "a virtual table whose columns change",
            "CREATE VIRTUAL TABLE f USING fts5(a)",
            "CREATE VIRTUAL TABLE f USING fts5(a, b)",
            ["drop the table f", "create the table f"],
            hints: .init(droppedTables: ["f"])
        ),
    ]

    static let added = [
        SchemaPair(
            "a column",
            "CREATE TABLE t(a); INSERT INTO t VALUES (1)",
            "CREATE TABLE t(a, b TEXT DEFAULT 'x')",
            ["add the column b to the table t"],
            query: "SELECT a, b FROM t",
            rows: [[1, "x"]]
        ),
        SchemaPair(
            "columns before a constraint of the table",
            "CREATE TABLE t(a, UNIQUE (a)) ; INSERT INTO t VALUES (1)",
            "CREATE TABLE t(a, b DECIMAL(10, 2), \"c d\" CHECK (\"c d\" <> ','), UNIQUE (a))",
            ["add the column b to the table t", "add the column c d to the table t"]
        ),
        SchemaPair(
            "a column that is NOT NULL and has a default",
            "CREATE TABLE t(a); INSERT INTO t VALUES (1)",
            "CREATE TABLE t(a, b NOT NULL DEFAULT 0)",
            ["add the column b to the table t"]
        ),
        SchemaPair(
            "a column with a reference",
            "CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1)",
            "CREATE TABLE t(a UNIQUE, b REFERENCES t(a) ON DELETE SET NULL)",
            ["add the column b to the table t"]
        ),
        SchemaPair(
            "a virtual generated column",
            "CREATE TABLE t(a); INSERT INTO t VALUES (1)",
            "CREATE TABLE t(a, b AS (a + 1))",
            ["add the column b to the table t"]
        ),
        SchemaPair(
            "a column of a table with a CHECK that only real rows satisfy",
            "CREATE TABLE t(a CHECK (a LIKE 'y%')); INSERT INTO t VALUES ('yes')",
            "CREATE TABLE t(a CHECK (a LIKE 'y%'), b)",
            ["add the column b to the table t"]
        ),
        SchemaPair(
            "a column of a table with an index of what is in a text",
            "CREATE TABLE t(a TEXT); CREATE INDEX i ON t(json_extract(a, '$.b')); INSERT INTO t VALUES ('{\"b\": 1}')",
            "CREATE TABLE t(a TEXT, b); CREATE INDEX i ON t(json_extract(a, '$.b'))",
            ["add the column b to the table t"]
        ),
        SchemaPair(
            "a column of a STRICT table without rows",
            "CREATE TABLE t(a INTEGER NOT NULL, b TEXT NOT NULL, c BLOB, d ANY, e REAL) STRICT",
            "CREATE TABLE t(a INTEGER NOT NULL, b TEXT NOT NULL, c BLOB, d ANY, e REAL, f INT) STRICT",
            ["add the column f to the table t"]
        ),
    ]
}
