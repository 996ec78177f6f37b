import AppMigrationsSQLite

extension Refusal {
    static let ofColumns = [
        Refusal(
            createTable: "CREATE TABLE t(a)",
            reason: "The new table has no column b",
            advice:
                "If it was renamed, use it in an expression in values. If it may be lost, list it in dropping."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b AS (a))",
            reason: "The values of b would be replaced by generated ones",
            advice:
                "If it was renamed, use it in an expression in values. If it may be lost, list it in dropping."
        ),
        Refusal(
            dropping: ["A"],
            reason: "The column A is listed in dropping, but the new table has it",
            advice:
                "Remove it from one of the two. If you mean an index, a trigger or a view of this name, drop it with a"
                + " statement first."
        ),
        Refusal(
            dropping: ["gone", "T"],
            reason: "T is not a column, index, trigger or view that can be dropped with t",
            advice: "Correct the name, or remove it from dropping."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b, c TEXT NOT NULL)",
            reason: "The new column c is NOT NULL, and has neither a default nor a value",
            advice: "Add a default to the column, or an expression to values."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b, c TEXT NOT NULL DEFAULT NULL)",
            reason: "The new column c is NOT NULL, and has neither a default nor a value",
            advice: "Add a default to the column, or an expression to values."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a NOT NULL DEFAULT 0, b NOT NULL)",
            reason:
                "The column a becomes NOT NULL, and the number of rows without a value there is 1 (rowid 2)",
            advice: "Give them a value in values, such as coalesce(a, '')."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a PRIMARY KEY, b) WITHOUT ROWID",
            reason:
                "The column a becomes NOT NULL, and the number of rows without a value there is 1 (rowid 2)",
            advice: "Give them a value in values."
        ),
        Refusal(
            before: "CREATE TABLE t(a INT, b); INSERT INTO t VALUES (NULL, 1)",
            createTable: "CREATE TABLE t(a INTEGER PRIMARY KEY, b)",
            reason:
                "The column a becomes NOT NULL, and the number of rows without a value there is 1 (rowid 1)",
            advice: "Give them a value in values."
        ),
        Refusal(
            before:
                "CREATE TABLE t(`two words` INT, `end` REAL, b BLOB); INSERT INTO t VALUES (NULL, NULL, NULL)",
            createTable: "CREATE TABLE t(`two words` INT NOT NULL, `end` REAL, b BLOB)",
            reason:
                "The column two words becomes NOT NULL, and the number of rows without a value there is 1 (rowid 1)",
            advice: "Give them a value in values, such as coalesce(`two words`, 0)."
        ),
        Refusal(
            before: "CREATE TABLE t(`end` REAL); INSERT INTO t VALUES (NULL)",
            createTable: "CREATE TABLE t(`end` REAL NOT NULL)",
            reason:
                "The column end becomes NOT NULL, and the number of rows without a value there is 1 (rowid 1)",
            advice: "Give them a value in values, such as coalesce(`end`, 0.0)."
        ),
        Refusal(
            before: "CREATE TABLE t(a BLOB); INSERT INTO t VALUES (NULL)",
            createTable: "CREATE TABLE t(a BLOB NOT NULL)",
            reason:
                "The column a becomes NOT NULL, and the number of rows without a value there is 1 (rowid 1)",
            advice: "Give them a value in values, such as coalesce(a, x'')."
        ),
        Refusal(
            before: "CREATE TABLE t(phone TEXT); INSERT INTO t VALUES ('0041790000')",
            createTable: "CREATE TABLE t(phone PHONENUMBER)",
            reason: "The column phone gets another type, PHONENUMBER, which can change its values",
            advice:
                "Give an expression in values. The column's name alone, phone, means SQLite's own conversion."
        ),
        Refusal(
            before: "CREATE TABLE t(n INTEGER); INSERT INTO t VALUES (9007199254740993)",
            createTable: "CREATE TABLE t(n REAL)",
            reason: "The column n gets another type, REAL, which can change its values",
            advice: "Give an expression in values. The column's name alone, n, means SQLite's own conversion."
        ),
        Refusal(
            before: "CREATE TABLE t(n INTEGER); INSERT INTO t VALUES ('x')",
            createTable: "CREATE TABLE t(n INTEGER) STRICT",
            reason: "The table becomes STRICT, so it refuses each value of the column n that isn't INTEGER",
            advice: "Give an expression in values. The column's name alone, n, means SQLite's own conversion."
        ),
        Refusal(
            before: "CREATE TABLE t(n TEXT); INSERT INTO t VALUES ('12 ')",
            createTable: "CREATE TABLE t(n INTEGER) STRICT",
            reason: "The column n gets another type, INTEGER STRICT, which can change its values",
            advice: "Give an expression in values. The column's name alone, n, means SQLite's own conversion."
        ),
        Refusal(
            before: "CREATE TABLE t(rowid, oid, _rowid_)",
            createTable: "CREATE TABLE t(a)",
            dropping: ["rowid", "oid", "_rowid_"],
            reason: "The new table has no column in common with the old one",
            advice: "Keep a column, or drop the table and create another one."
        ),
    ]

    static let ofRows =
        [
            Refusal(
                createTable: "CREATE TABLE t(a, b UNIQUE)",
                values: ["b": "7"],
                reason:
                    "UNIQUE constraint failed: t.b in the row with rowid 2. The table and its rows are as they were (SQLite error 2067). Statement: INSERT OR FAIL"
            ),
            Refusal(
                createTable: "CREATE TABLE t(a, b CHECK (b < 3))",
                reason:
                    "CHECK constraint failed: b < 3 in the row with rowid 2. The table and its rows are as they were"
            ),
            Refusal(
                before: "CREATE TABLE t(a, b); INSERT INTO t VALUES ('x', 1)",
                createTable: "CREATE TABLE t(a INTEGER, b) STRICT",
                reason: "missing datatype for t.b. The table and"
            ),
            Refusal(
                before: "CREATE TABLE t(a, b); INSERT INTO t VALUES ('x', 1)",
                createTable: "CREATE TABLE t(a INTEGER, b INT) STRICT",
                values: ["a": "a", "b": "b"],
                reason: "cannot store TEXT value in INTEGER column t.a in the row with rowid 1. The table"
            ),
            Refusal(
                createTable: "CREATE TABLE t(a NOT NULL ON CONFLICT IGNORE, b)",
                values: ["a": "a"],
                reason:
                    "NOT NULL constraint failed: t.a in the row with rowid 2. The table and its rows are as they were"
            ),
            Refusal(
                before: """
                    CREATE TABLE t(a CHECK (t.a > 0), b); INSERT INTO t VALUES (1, 2), (2, 2); CREATE INDEX i ON t(a);
                    CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END
                    """,
                createTable: "CREATE TABLE t(a, b UNIQUE)",
                reason:
                    "UNIQUE constraint failed: t.b in the row with rowid 2. The table and its rows are as they were"
            ),
        ]
        + ["IGNORE", "REPLACE", "ROLLBACK"].map { rule in
            Refusal(
                createTable: "CREATE TABLE t(a, b UNIQUE ON CONFLICT \(rule))",
                values: ["b": "7"],
                reason:
                    "UNIQUE constraint failed: t.b in the row with rowid 2. The table and its rows are as they were"
            )
        }
}
