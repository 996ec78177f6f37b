import AppMigrationsSQLite

extension Refusal {
    static let ofTables = [
        Refusal(
            table: "x",
            reason: "There is no table of this name",
            advice: "Correct the name, or create the table."
        ),
        Refusal(
            before: "CREATE VIEW t AS SELECT 1",
            reason: "It is a view",
            advice: "Drop it and create it again, since it holds no rows."
        ),
        Refusal(
            before: "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT)",
            table: "sqlite_sequence",
            reason: "It is a table of SQLite's own",
            advice: "Choose a table of your own."
        ),
        Refusal(
            before: "CREATE VIRTUAL TABLE t USING fts5(a)",
            reason: "It is a virtual table, whose module keeps its rows",
            advice: "Create another one, copy the rows, and drop this one."
        ),
        Refusal(
            before: "CREATE VIRTUAL TABLE f USING fts5(a)",
            table: "f_content",
            reason: "It is a shadow table, in which the virtual table f keeps its rows",
            advice: "Leave it alone."
        ),
        Refusal(
            createTable: "CREATE VIRTUAL TABLE t USING fts5(a)",
            reason: "The statement of the new table is not a CREATE TABLE statement",
            advice: "Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "DROP TABLE t",
            reason: "The statement of the new table is not a CREATE TABLE statement",
            advice: "Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b); DROP TABLE t",
            reason: "Another statement follows that of the new table",
            advice: "Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TEMP TABLE t(a, b)",
            reason: "The new table would not be in the main database",
            advice: "Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TABLE t2(a, b)",
            reason: "The statement of the new table makes the table t2",
            advice: "Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TABLE t AS SELECT 1",
            reason: "The new table would get its rows from a SELECT",
            advice: "Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b",
            reason: "incomplete input. The table and its rows are as they were"
        ),
    ]

    static let ofValues = [
        Refusal(
            values: ["c": "1"],
            reason: "There is a value for c, which is not a column of the new table",
            advice: "Correct the values argument."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b, c AS (a))",
            values: ["c": "1"],
            reason: "There is a value for c, which is a generated column",
            advice: "Correct the values argument."
        ),
        Refusal(
            values: ["a": "1", "A": "2"],
            reason: "There are two values for the column a",
            advice: "Correct the values argument."
        ),
        Refusal(
            values: ["a": " -- nothing"],
            reason: "The value for a is empty",
            advice: "Correct the values argument."
        ),
        Refusal(
            values: ["a": "\"aa\" || 'x'"],
            reason:
                "The value for a has a double-quoted name that SQLite would treat as a string literal: no such column: aa",
            advice: "Correct the values argument."
        ),
        Refusal(
            values: ["a": "max(a)"],
            reason: "Only 1 of 2 rows would be left",
            advice:
                "An expression in values must return one value for each row, so it can't contain an aggregate function."
        ),
        Refusal(
            values: ["a": "nope"],
            reason: "The value for a does not compile: no such column: nope",
            advice: "Correct the values argument."
        ),
        Refusal(
            values: ["a": "1) FROM t WHERE (a"],
            reason: "The value for a does not compile: near \"FROM\": syntax error",
            advice: "Correct the values argument."
        ),
    ]
}
