import AppMigrationsSQLite
import AppMigrationsSchema

extension Refusal {
    static let ofTables = [
        Refusal(
            table: "x",
            message: "Rebuilding the table x: There is no table of this name. Nothing was changed."
                + " Correct the name, or create the table."
        ),
        Refusal(
            before: "CREATE VIEW t AS SELECT 1",
            message: "Rebuilding the table t: It is a view. Nothing was changed."
                + " Drop it and create it again, since it holds no rows."
        ),
        Refusal(
            before: "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT)",
            table: "sqlite_sequence",
            message:
                "Rebuilding the table sqlite_sequence: It is a table of SQLite's own. Nothing was changed."
                + " Choose a table of your own."
        ),
        Refusal(
            before: "CREATE VIRTUAL TABLE t USING fts5(a)",
            message: "Rebuilding the table t: It is a virtual table, whose module keeps its rows. Nothing was"
                + " changed. Create another one, copy the rows, and drop this one."
        ),
        Refusal(
            before: "CREATE VIRTUAL TABLE f USING fts5(a)",
            table: "f_content",
            message:
                "Rebuilding the table f_content: It is a shadow table, in which a virtual table keeps its rows."
                + " Nothing was changed. Leave it alone."
        ),
        Refusal(
            createTable: "CREATE VIRTUAL TABLE t USING fts5(a)",
            message: "Rebuilding the table t: The statement of the new table is no CREATE TABLE. Nothing was"
                + " changed. Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "DROP TABLE t",
            message: "Rebuilding the table t: The statement of the new table is no CREATE TABLE. Nothing was"
                + " changed. Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b); DROP TABLE t",
            message:
                "Rebuilding the table t: More follows the statement of the new table. Nothing was changed."
                + " Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TEMP TABLE t(a, b)",
            message:
                "Rebuilding the table t: The new table would not be in the main database. Nothing was changed."
                + " Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TABLE t2(a, b)",
            message:
                "Rebuilding the table t: The statement of the new table makes the table t2. Nothing was changed."
                + " Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TABLE t AS SELECT 1",
            message:
                "Rebuilding the table t: The new table would get its rows from a SELECT. Nothing was changed."
                + " Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b",
            message: "Rebuilding the table t: incomplete input. The table and its rows are as they were"
        ),
    ]

    static let ofValues = [
        Refusal(
            values: ["c": "1"],
            message:
                "Rebuilding the table t: There is a value for c, which is no column of the new table. Nothing"
                + " was changed. Correct values:."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b, c AS (a))",
            values: ["c": "1"],
            message:
                "Rebuilding the table t: There is a value for c, which is a generated column. Nothing was"
                + " changed. Correct values:."
        ),
        Refusal(
            values: ["a": "1", "A": "2"],
            message: "Rebuilding the table t: There are two values for the column a. Nothing was changed."
                + " Correct values:."
        ),
        Refusal(
            values: ["a": " -- nothing"],
            message: "Rebuilding the table t: The value for a is empty. Nothing was changed. Correct values:."
        ),
        Refusal(
            values: ["a": "\"aa\" || 'x'"],
            message:
                "Rebuilding the table t: The value for a has a name in double quotes that SQLite would take for a text:"
                + " no such column: aa. Nothing was changed. Correct the name, or write a text in single quotes."
        ),
        Refusal(
            values: ["a": "max(a)"],
            message:
                "Rebuilding the table t: Of 2 rows 1 would be left. Nothing was changed. An expression in values:"
                + " must give one value for each row, so it can hold no aggregate function."
        ),
        Refusal(
            values: ["a": "nope"],
            message: "Rebuilding the table t: no such column: nope. The table and its rows are as they were"
                + " (SQLite error 1)."
        ),
        Refusal(
            values: ["a": "1) FROM t WHERE (a"],
            message:
                "Rebuilding the table t: near \"FROM\": syntax error. The table and its rows are as they were"
        ),
    ]
}
