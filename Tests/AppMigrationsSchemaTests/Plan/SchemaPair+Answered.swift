import AppMigrationsSQLite
import AppMigrationsSchema

extension SchemaPair {
    static let answered = [
        SchemaPair(
            "a table that was renamed, with all that refers to it",
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p ON DELETE CASCADE);
            CREATE INDEX i ON p(id); CREATE VIEW v AS SELECT id FROM p; CREATE VIEW w AS SELECT id FROM p;
            INSERT INTO p VALUES (1); INSERT INTO c VALUES (1)
            """,
            """
            CREATE TABLE parent(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES parent ON DELETE CASCADE);
            CREATE INDEX i ON parent(id); CREATE VIEW v AS SELECT id FROM parent; CREATE VIEW w AS SELECT id AS x FROM parent
            """,
            ["rename the table p to parent", "drop the view w", "create the view w"],
            hints: .init(renamedTables: ["p": "parent"]),
            query: "SELECT id, p FROM parent, c",
            rows: [[1, 1]]
        ),
        SchemaPair(
            "a table that was renamed beside a view that was broken before",
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p ON DELETE CASCADE);
            CREATE VIEW broken AS SELECT * FROM nowhere; INSERT INTO p VALUES (1); INSERT INTO c VALUES (1)
            """,
            """
            CREATE TABLE parent(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES parent ON DELETE CASCADE);
            CREATE VIEW broken AS SELECT * FROM nowhere;
            """,
            ["rename the table p to parent", "rebuild the table c"],
            hints: .init(renamedTables: ["P": "PARENT"]),
            query: "SELECT id, p FROM parent, c",
            rows: [[1, 1]]
        ),
        SchemaPair(
            "a table that was renamed and got a column",
            "CREATE TABLE t(a); INSERT INTO t VALUES (1)",
            "CREATE TABLE u(a, b)",
            ["rename the table t to u", "add the column b to the table u"],
            hints: .init(renamedTables: ["t": "u"]),
            query: "SELECT * FROM u",
            rows: [[1, nil]]
        ),
        SchemaPair(
            "a column that was renamed, with all that refers to it",
            """
            CREATE TABLE t(a UNIQUE); CREATE TABLE c(t REFERENCES t(a)); CREATE INDEX i ON t(a);
            CREATE VIEW v AS SELECT a AS x FROM t; INSERT INTO t VALUES (1); INSERT INTO c VALUES (1)
            """,
            """
            CREATE TABLE t(b UNIQUE, c); CREATE TABLE c(t REFERENCES t(b)); CREATE INDEX i ON t(b);
            CREATE VIEW v AS SELECT b AS x FROM t
            """,
            ["rename the column a of the table t to b", "add the column c to the table t"],
            hints: .init(renamedColumns: ["t": ["a": "b"]]),
            query: "SELECT b, x, c FROM t, v",
            rows: [[1, 1, nil]]
        ),
        SchemaPair(
            "a table and a column that were renamed again and again",
            "CREATE TABLE t1(a); INSERT INTO t1 VALUES (1)",
            "CREATE TABLE t3(c)",
            ["rename the table t1 to t3", "rename the column a of the table t3 to c"],
            hints: .init(
                renamedTables: ["t1": "t2", "t2": "t3"],
                renamedColumns: ["t3": ["a": "b", "b": "c"]]
            ),
            query: "SELECT c FROM t3",
            rows: [[1]]
        ),
        SchemaPair(
            "a column that was renamed and went later",
            "CREATE TABLE t(a, x); INSERT INTO t VALUES (1, 2)",
            "CREATE TABLE t(x)",
            ["rebuild the table t"],
            hints: .init(renamedColumns: ["t": ["a": "b"]], droppedColumns: ["t": ["b"]]),
            query: "SELECT * FROM t",
            rows: [[2]]
        ),
        SchemaPair(
            "a table that was renamed and went later",
            "CREATE TABLE t(a); CREATE TABLE x(a)",
            "CREATE TABLE x(a)",
            ["drop the table t"],
            hints: .init(renamedTables: ["t": "u", "u": "v"], droppedTables: ["v"])
        ),
        SchemaPair(
            "a column and a table that were renamed, and others that came under their names",
            "CREATE TABLE t(a); INSERT INTO t VALUES (1)",
            "CREATE TABLE u(b, a); CREATE TABLE t(x)",
            [
                "rename the table t to u", "rename the column a of the table u to b", "create the table t",
                "add the column a to the table u",
            ],
            hints: .init(renamedTables: ["t": "u"], renamedColumns: ["u": ["a": "b"]]),
            query: "SELECT b, a FROM u",
            rows: [[1, nil]]
        ),
        SchemaPair(
            "a column that comes under the name of one that a rebuild renames",
            "CREATE TABLE t(a TEXT, k); INSERT INTO t VALUES ('1', NULL)",
            "CREATE TABLE t(b TEXT, a INTEGER NOT NULL DEFAULT 5, k NOT NULL)",
            ["rebuild the table t"],
            hints: .init(renamedColumns: ["t": ["a": "b"]], values: ["t": ["k": "coalesce(k, a)"]]),
            query: "SELECT b, a, k FROM t",
            rows: [["1", 5, "1"]]
        ),
        SchemaPair(
            "columns and tables that each get the former name of the next",
            "CREATE TABLE t(a, b); CREATE TABLE u(x); INSERT INTO t VALUES (1, 2); INSERT INTO u VALUES (3)",
            "CREATE TABLE u(b, c); CREATE TABLE v(x)",
            [
                "rename the table u to v", "rename the table t to u",
                "rename the column b of the table u to c",
                "rename the column a of the table u to b",
            ],
            hints: .init(renamedTables: ["t": "u", "u": "v"], renamedColumns: ["u": ["a": "b", "b": "c"]]),
            query: "SELECT b, c, x FROM u, v",
            rows: [[1, 2, 3]]
        ),
        SchemaPair(
            "a table that was renamed and renamed back",
            "CREATE TABLE t(a)",
            "CREATE TABLE t(a); CREATE TABLE x(a)",
            ["create the table x"],
            hints: .init(renamedTables: ["t": "u", "u": "t"])
        ),
        SchemaPair(
            "a column that was renamed in a table that a trigger broken before stands in",
            """
            CREATE TABLE t(a); INSERT INTO t VALUES (1);
            CREATE TRIGGER broken AFTER INSERT ON t BEGIN SELECT x FROM nowhere; END
            """,
            """
            CREATE TABLE t(b, c);
            CREATE TRIGGER broken AFTER INSERT ON t BEGIN SELECT x FROM nowhere; END
            """,
            ["rebuild the table t"],
            hints: .init(renamedColumns: ["t": ["a": "b"]]),
            query: "SELECT b, c FROM t",
            rows: [[1, nil]]
        ),
        SchemaPair(
            "a column that is NOT NULL and made of another that goes",
            "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2)",
            "CREATE TABLE t(c NOT NULL, d)",
            ["rebuild the table t"],
            hints: .init(renamedColumns: ["t": ["b": "d"]], values: ["t": ["c": "a * 10 + b"]]),
            query: "SELECT c, d FROM t",
            rows: [[12, 2]]
        ),
        SchemaPair(
            "a column that becomes NOT NULL",
            "CREATE TABLE t(a); INSERT INTO t VALUES (1), (NULL)",
            "CREATE TABLE t(a NOT NULL)",
            ["rebuild the table t"],
            hints: .init(values: ["t": ["A": "coalesce(a, 0)"]]),
            query: "SELECT a FROM t",
            rows: [[1], [0]]
        ),
        SchemaPair(
            "a column that gets another type",
            "CREATE TABLE t(a TEXT, b); INSERT INTO t VALUES ('007', 1)",
            "CREATE TABLE t(a INTEGER, b)",
            ["rebuild the table t"],
            hints: .init(values: ["t": ["a": "a", "b": "b + 100"]]),
            query: "SELECT a, b FROM t",
            rows: [[7, 1]]
        ),
        SchemaPair(
            "a column that becomes a generated one",
            "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 1)",
            "CREATE TABLE t(a, b AS (a * 2))",
            ["rebuild the table t"],
            hints: .init(droppedColumns: ["t": ["b"]]),
            query: "SELECT a, b FROM t",
            rows: [[1, 2]]
        ),
        SchemaPair(
            "hints that have served their turn",
            "CREATE TABLE t(b, a); INSERT INTO t VALUES (1, 2)",
            "CREATE TABLE t(b, a, c)",
            ["add the column c to the table t"],
            hints: .init(
                renamedTables: ["old": "t"],
                renamedColumns: ["t": ["a": "b"], "x": ["y": "z"]],
                values: ["t": ["b": "b * 100"]],
                droppedTables: ["old"],
                droppedColumns: ["t": ["d"]]
            ),
            query: "SELECT a, b FROM t",
            rows: [[2, 1]]
        ),
    ]
}
