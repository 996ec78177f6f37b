import AppMigrationsSQLite

extension Kept {
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
                CREATE TABLE t(id INTEGER PRIMARY KEY DESC, a); INSERT INTO t(rowid, id, a) VALUES (5, 20, 'x'), (9, 10, 'y')
                """,
            createTable: "CREATE TABLE t(id INTEGER PRIMARY KEY DESC, a, b)",
            query: "SELECT rowid, id, a FROM t",
            rows: [[5, 20, "x"], [9, 10, "y"]]
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
            query: "SELECT id, seq FROM t, sqlite_sequence",
            rows: [[100, 100]]
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
}
