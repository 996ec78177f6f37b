import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

/// A table whose columns become stricter, with hints that are the columns' own names.
struct StricterTable: Sendable, CustomTestStringConvertible {
    let from: String
    let to: String
    var values: [String: String]
    var renamedColumns: [String: String] = [:]
    /// Rows that the new table takes, and what they are there.
    let rows: String
    let kept: [[SQLValue]]
    /// A row more that it doesn't take, and the words of the error.
    let wrong: String
    let complaint: String

    var testDescription: String { "\(from) to \(to)" }

    static let all = [
        StricterTable(
            from: "id INTEGER PRIMARY KEY, b",
            to: "(id INTEGER PRIMARY KEY, b NOT NULL)",
            values: ["b": "b"],
            rows: "(1, 2), (3, 'x')",
            kept: [[1, 2], [3, "x"]],
            wrong: "(7, NULL)",
            complaint:
                "The column b becomes NOT NULL, and the number of rows without a value there is 1 (id 7)."
                + " Nothing was changed. Give them a value in values, such as coalesce(b, '')."
        ),
        StricterTable(
            from: "a, b TEXT",
            to: "(a NOT NULL, b TEXT NOT NULL DEFAULT 'none')",
            values: ["a": "\"a\"", "B": "[b]"],
            rows: "(1, 'x')",
            kept: [[1, "x"]],
            wrong: "(2, NULL), (3, NULL)",
            complaint:
                "The column b becomes NOT NULL, and the number of rows without a value there is 2 (first: rowid 2)."
                + " Nothing was changed. Give them a value in values, such as coalesce(b, '')."
        ),
        StricterTable(
            from: "a, b",
            to: "(a NOT NULL, b)",
            values: ["a": "t.a"],
            rows: "(1, 2)",
            kept: [[1, 2]],
            wrong: "(NULL, 2)",
            complaint:
                "The column a becomes NOT NULL, and the number of rows without a value there is 1 (rowid 2)."
                + " Nothing was changed. Give them a value in values, such as coalesce(a, '')."
        ),
        StricterTable(
            from: "k TEXT PRIMARY KEY, v",
            to: "(k TEXT PRIMARY KEY, v) WITHOUT ROWID",
            values: ["k": "k"],
            rows: "('a', 1), ('b', NULL)",
            kept: [["a", 1], ["b", nil]],
            wrong: "(NULL, 5)",
            complaint:
                "The column k becomes NOT NULL, and the number of rows without a value there is 1 (rowid 3)."
                + " Nothing was changed. Give them a value in values."
        ),
        StricterTable(
            from: "k INT, l INT, v, PRIMARY KEY (k, l)",
            to: "(k INT, l INT, v NOT NULL, PRIMARY KEY (k, l)) WITHOUT ROWID",
            values: ["k": "k", "l": "L", "v": "v"],
            rows: "(1, 2, 3)",
            kept: [[1, 2, 3]],
            wrong: "(1, 3, NULL)",
            complaint:
                "The column v becomes NOT NULL, and the number of rows without a value there is 1 (rowid 2)."
                + " Nothing was changed. Give them a value in values, such as coalesce(v, '')."
        ),
        StricterTable(
            from: "id INTEGER PRIMARY KEY, n INTEGER, s TEXT",
            to: "(id INTEGER PRIMARY KEY, n INTEGER, s TEXT) STRICT",
            values: ["n": "n", "s": "s"],
            rows: "(1, 5, 'x'), (2, NULL, NULL)",
            kept: [[1, 5, "x"], [2, nil, nil]],
            wrong: "(9, 'many', 'x')",
            complaint:
                "cannot store TEXT value in INTEGER column t.n in the row with id 9. The table and its rows are as they were"
        ),
        StricterTable(
            from: "id INTEGER PRIMARY KEY, n INTEGER, s TEXT",
            to: "(id INTEGER PRIMARY KEY, n INTEGER NOT NULL, s TEXT NOT NULL) STRICT",
            values: ["n": "n", "s": "s"],
            rows: "(1, 5, 'x')",
            kept: [[1, 5, "x"]],
            wrong: "(2, 5, 'y'), (3, NULL, 'x')",
            complaint:
                "NOT NULL constraint failed: t.n in the row with id 3. The table and its rows are as they were"
        ),
        StricterTable(
            from: "k TEXT PRIMARY KEY, r REAL, b BLOB",
            to: "(k TEXT PRIMARY KEY, r REAL NOT NULL, b BLOB) STRICT, WITHOUT ROWID",
            values: ["k": "k", "r": "r", "b": "b"],
            rows: "('a', 1.5, x'00'), ('b', 2, NULL)",
            kept: [["a", 1.5, .blob([0])], ["b", 2.0, nil]],
            wrong: "('c', 1, 'text')",
            complaint:
                "cannot store TEXT value in BLOB column t.b in the row with rowid 3. The table and its rows are as they were"
        ),
        StricterTable(
            from: "a TEXT",
            to: "(a INTEGER NOT NULL)",
            values: ["a": "a"],
            rows: "('7')",
            kept: [[7]],
            wrong: "(NULL)",
            complaint:
                "NOT NULL constraint failed: t.a in the row with rowid 2. The table and its rows are as they were"
        ),
        StricterTable(
            from: "id INTEGER PRIMARY KEY, old",
            to: "(id INTEGER PRIMARY KEY, new NOT NULL)",
            values: ["new": "new"],
            renamedColumns: ["old": "new"],
            rows: "(1, 2)",
            kept: [[1, 2]],
            wrong: "(5, NULL)",
            complaint:
                "The column new becomes NOT NULL, and the number of rows without a value there is 1 (id 5)."
                + " Nothing was changed. Give them a value in values, such as coalesce(new, '')."
        ),
        StricterTable(
            from: "id INTEGER PRIMARY KEY, old",
            to: "(id INTEGER PRIMARY KEY, new NOT NULL)",
            values: ["new": "old"],
            renamedColumns: ["old": "new"],
            rows: "(1, 2)",
            kept: [[1, 2]],
            wrong: "(5, NULL)",
            complaint:
                "The column new becomes NOT NULL, and the number of rows without a value there is 1 (id 5)."
                + " Nothing was changed. Give them a value in values, such as coalesce(new, '')."
        ),
        StricterTable(
            from: "id INTEGER PRIMARY KEY, old TEXT",
            to: "(id INTEGER PRIMARY KEY, new INTEGER NOT NULL)",
            values: ["new": "new"],
            renamedColumns: ["old": "new"],
            rows: "(1, '2')",
            kept: [[1, 2]],
            wrong: "(5, NULL)",
            complaint:
                "NOT NULL constraint failed: t.new in the row with id 5. The table and its rows are as they were"
        ),
        StricterTable(
            from: "k TEXT PRIMARY KEY, v",
            to: "(k TEXT NOT NULL PRIMARY KEY, v, w UNIQUE)",
            values: ["k": "k"],
            rows: "('a', 1)",
            kept: [["a", 1, nil]],
            wrong: "(NULL, 5)",
            complaint:
                "The column k becomes NOT NULL, and the number of rows without a value there is 1 (rowid 2)."
                + " Nothing was changed. Give them a value in values."
        ),
    ]

    var hints: SchemaPlan.Hints { .init(renamedColumns: ["t": renamedColumns], values: ["t": values]) }
}

/// A hint that is the column's own name keeps its values, and a row that can't keep its value is an error.
@Suite struct OwnNameTests {
    @Test(arguments: StricterTable.all)
    func `a column whose hint is its own name is kept where every row can be`(_ table: StricterTable) throws {
        let db = try database("CREATE TABLE t(\(table.from)); INSERT INTO t VALUES \(table.rows)")
        let target = "CREATE TABLE t\(table.to)"
        let plan = try SchemaPlan(from: db, to: target, hints: table.hints)
        #expect(plan.questions == [])
        try plan.apply(db)
        #expect(try db.query("SELECT * FROM t") == table.kept)
        #expect(try SchemaPlan(from: db, to: target, hints: table.hints).steps.isEmpty)
    }

    @Test(arguments: StricterTable.all)
    func `a row that can't keep its value is named, and nothing is changed`(_ table: StricterTable) throws {
        let db = try database(
            "CREATE TABLE t(\(table.from)); INSERT INTO t VALUES \(table.rows), \(table.wrong)"
        )
        let target = "CREATE TABLE also(x); CREATE TABLE t\(table.to)"
        let plan = try SchemaPlan(from: db, to: target, hints: table.hints)
        #expect(plan.questions == [])
        let error = try refused(db) { try plan.apply(db) }
        #expect(error.description.hasPrefix("Rebuilding the table t: \(table.complaint)"), "\(error)")
    }

    @Test func `the row is named in whatever order SQLite reads the rows`() throws {
        // The index of UNIQUE has all columns that are read, so that SQLite reads the rows in its order.
        let db = try database(
            "CREATE TABLE t(a TEXT UNIQUE); INSERT INTO t VALUES ('9'), ('x'), ('1'), ('5'), ('3')"
        )
        let strict = TableRebuild("t", as: "CREATE TABLE t(a INTEGER) STRICT", values: ["a": "a"])
        let error = try refused(db) { try strict.run(db) }
        #expect(error.message.contains("column t.a in the row with rowid 2."), "\(error)")
        // Under the table's own name, the rows are copied twice.
        let named = try database(
            "CREATE TABLE t(k TEXT PRIMARY KEY, a, CHECK (t.a <> 7)) WITHOUT ROWID; INSERT INTO t VALUES ('k', 'x')"
        )
        let twice = TableRebuild(
            "t",
            as: "CREATE TABLE t(k TEXT PRIMARY KEY, a INT) STRICT, WITHOUT ROWID",
            values: ["a": "a", "k": "k"]
        )
        let other = try refused(named) { try twice.run(named) }
        #expect(other.message.contains("column t.a in the row with k 'k'."), "\(other)")
    }

    @Test func `a row for which an expression fails has SQLite's error alone`() throws {
        let db = try database("CREATE TABLE t(a); INSERT INTO t VALUES ('{}'), ('no JSON')")
        let rebuild = TableRebuild("t", as: "CREATE TABLE t(a, b)", values: ["b": "json(a)"])
        let error = try refused(db) { try rebuild.run(db) }
        #expect(
            error.message == "Rebuilding the table t: malformed JSON. The table and its rows are as they were"
        )
    }

    @Test(arguments: [
        ("b", "b NOT NULL", "missing"), ("b", "b NOT NULL", "\"missing\""),
    ])
    func `a new column has no values to keep`(column: String, definition: String, old: String) throws {
        let db = try database("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let hints = SchemaPlan.Hints(values: ["t": ["b": "b"]])
        let plan = try SchemaPlan(from: db, to: "CREATE TABLE t(a, \(definition))", hints: hints)
        #expect(plan.questions.map(\.kind) == [.missingValue])
    }

    @Test func `a key without a value that rows could share is answered by its own name`() throws {
        let db = try database("CREATE TABLE t(k TEXT PRIMARY KEY); INSERT INTO t VALUES ('a')")
        let target = "CREATE TABLE t(k TEXT PRIMARY KEY) WITHOUT ROWID"
        let question = "The column k of the table t becomes NOT NULL. If no row is NULL there:"
        #expect(
            try SchemaPlan(from: db, to: target).questions.map(\.description)
                == ["\(question) values: [\"t\": [\"k\": \"k\"]]."]
        )
        // Advice that would drop the hint's own conversion is none.
        let hints = SchemaPlan.Hints(values: ["t": ["k": "trim(k)"]])
        #expect(
            try SchemaPlan(from: db, to: target, hints: hints).questions.map(\.description) == [
                "The column k of the table t becomes NOT NULL. The hint \"trim(k)\" returns no value for a row that has none."
                    + " Say what rows without a value get: values: [\"t\": [\"k\": \"an expression\"]]."
            ]
        )
    }

    @Test(arguments: ["'b'", "0", "a", "other.b", "x'62'"])
    func `a hint that isn't the column's name keeps no row from being asked about`(hint: String) throws {
        let db = try database("CREATE TABLE t(a, b TEXT); CREATE TABLE other(b)")
        let target = "CREATE TABLE t(a, b INTEGER NOT NULL); CREATE TABLE other(b)"
        let hints = SchemaPlan.Hints(values: ["t": ["b": hint]])
        if hint == "other.b" {
            #expect(throws: SQLError.self) { try SchemaPlan(from: db, to: target, hints: hints) }
        } else {
            #expect(
                try SchemaPlan(from: db, to: target, hints: hints).questions.map(\.kind) == [.convertedValues]
            )
        }
    }

    @Test func `an index that draws on a column that is kept has nothing to follow`() throws {
        let index = "CREATE VIRTUAL TABLE f USING fts5(b, content='t');"
        let db = try database(
            "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 'x'); \(index) INSERT INTO f(f) VALUES ('rebuild')"
        )
        let hints = SchemaPlan.Hints(values: ["t": ["b": "b"]])
        try SchemaPlan(from: db, to: "CREATE TABLE t(a, b NOT NULL); \(index)", hints: hints).apply(db)
        #expect(try db.query("SELECT rowid FROM f WHERE f MATCH 'x'") == [[1]])
    }

    @Test func `a hint that a release doesn't need isn't compiled`() throws {
        // Release 1 had a and b, release 2 dropped a, release 3 wants b NOT NULL.
        let hints = SchemaPlan.Hints(
            values: ["t": ["b": "coalesce(b, a)", "c": "c"]],
            droppedColumns: ["t": ["a"]]
        )
        let target = "CREATE TABLE t(b NOT NULL, c NOT NULL, d UNIQUE)"
        let first = try database("CREATE TABLE t(a, b, c); INSERT INTO t VALUES (1, NULL, 3)")
        try SchemaPlan(from: first, to: target, hints: hints).apply(first)
        #expect(try first.query("SELECT * FROM t") == [[1, 3, nil]])
        let second = try database("CREATE TABLE t(b NOT NULL, c NOT NULL); INSERT INTO t VALUES (2, 3)")
        try SchemaPlan(from: second, to: target, hints: hints).apply(second)
        #expect(try second.query("SELECT * FROM t") == [[2, 3, nil]])
    }
}
