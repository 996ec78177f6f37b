import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// An expression has the value that it had before the rebuild, and a column goes without being named only where SQLite
/// says that an expression reads it.
@Suite struct ExpressionTests {
    private static let script = """
        CREATE TABLE kinds(n, text); INSERT INTO kinds VALUES (1, 'k');
        CREATE TABLE item(id INTEGER PRIMARY KEY, list INT, text TEXT); CREATE INDEX by_list ON item(list);
        CREATE VIEW totals AS SELECT list AS l, sum(id) AS total FROM item GROUP BY list;
        CREATE VIEW nested AS SELECT max(total) AS most FROM totals;
        CREATE TRIGGER made AFTER INSERT ON item BEGIN DELETE FROM kinds; END;
        INSERT INTO item VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 1, 'd');
        DELETE FROM kinds; INSERT INTO kinds VALUES (1, 'k')
        """

    private static let expressions = [
        "(SELECT count(*) FROM item AS o WHERE o.list = item.list AND o.id < item.id)",
        "(SELECT count(*) FROM item)",
        "(SELECT total FROM totals WHERE l = list)", "(SELECT most FROM nested)", "id IN item_ids",
        "id IN (SELECT list FROM item)",
        "EXISTS (SELECT 1 FROM main.item WHERE id > 3)",
        "(WITH o AS (SELECT * FROM item) SELECT max(id) FROM o)",
        "(SELECT n FROM kinds)", "row_number() OVER (ORDER BY text DESC)", "main.item.id * 10",
        "item.rowid + 1",
        "(SELECT group_concat(value) FROM (SELECT value FROM json_each('[1,2]')))",
        "upper(text) -- in capitals",
        "(SELECT \"o\".\"text\" FROM item AS \"o\" ORDER BY \"o\".id DESC LIMIT 1)",
        "(SELECT count(*) FROM found WHERE found MATCH 'a')", "(SELECT max(text) FROM found)",
    ]

    private func made() throws -> SQLiteConnection {
        try database(
            """
            \(Self.script); CREATE VIEW item_ids AS SELECT id FROM item WHERE id > 2;
            CREATE VIRTUAL TABLE found USING fts5(text, content=item, content_rowid=id);
            INSERT INTO found(found) VALUES ('rebuild')
            """,
            foreignKeys: false
        )
    }

    @Test(arguments: expressions)
    func `an expression reads the rows of the table as they were`(expression: String) throws {
        let target = "CREATE TABLE item(id INTEGER PRIMARY KEY, list INT, text TEXT, pos)"
        let wanted = try made().query("SELECT id, (\(expression)\n) FROM item ORDER BY id")
        for isForeign in [false, true] {
            let db = try made()
            let rebuild = TableRebuild("item", as: target, values: ["pos": expression])
            if isForeign { try rebuild.run(Foreign(db: db)) } else { try rebuild.run(db) }
            #expect(try db.query("SELECT id, pos FROM item ORDER BY id") == wanted)
        }
        let db = try made()
        let all = try db.query(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'found_%'"
        )
        let others = all.compactMap { if case .text(let sql) = $0[0] { sql } else { nil } }
        let script = others.map { $0.hasPrefix("CREATE TABLE item") ? target : $0 }.joined(separator: ";\n")
        let hints = SchemaPlan.Hints(values: ["item": ["pos": expression]])
        try SchemaPlan(from: db.borrowed, to: script, hints: hints).apply(db)
        #expect(try db.query("SELECT id, pos FROM item ORDER BY id") == wanted)
    }

    @Test func `a function of the app that reads the table is called before it is rebuilt`() throws {
        let db = try database("CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2), (3, 4)")
        let foreign = WithFunction(db: db)
        let rebuild = TableRebuild(
            "t",
            as: "CREATE TABLE t(a, n)",
            values: ["n": "rows_of_t()"],
            dropping: ["b"]
        )
        try rebuild.run(foreign)
        #expect(try db.query("SELECT a, n FROM t") == [[1, 2], [3, 2]])
        // Nobody knows which columns `rows_of_t()` uses by itself, so each that it may use has to be named.
        let error = try refused(db) {
            try TableRebuild("t", as: "CREATE TABLE t(b)", values: ["b": "rows_of_t() + a"]).run(foreign)
        }
        #expect(
            error.description
                == "Rebuilding the table t: The new table has no column n. Nothing was changed. If it was renamed, use it"
                + " in an expression in values. If it may be lost, list it in dropping."
        )
        // No column is known to be used where the expression takes no row of a subquery's.
        let whole = TableRebuild("t", as: "CREATE TABLE t(b)", values: ["b": "rows_of_t() + main.t.a"])
        #expect(try refused(db) { try whole.run(foreign) }.message.contains("has no column a."))
        let plan = try SchemaPlan(
            from: foreign,
            to: "CREATE TABLE t(b NOT NULL)",
            hints: .init(values: ["t": ["b": "rows_of_t() + a"]])
        )
        #expect(plan.questions.map(\.column) == ["n"])
        for (value, words) in [
            ("rows_of_t() || \"x\"", "a double-quoted name that SQLite would treat as a string literal"),
            ("rows_of_t() + x", "no such column: x"),
        ] {
            let wrong = TableRebuild("t", as: "CREATE TABLE t(a, n)", values: ["n": value])
            #expect(try refused(db) { try wrong.run(foreign) }.message.contains(words))
        }
    }

    @Test func `expressions of a plan read the other tables as they were, whatever their order`() throws {
        let script = """
            CREATE TABLE a(id INTEGER PRIMARY KEY, zip TEXT, old); CREATE TABLE b(id INTEGER PRIMARY KEY, n);
            CREATE VIEW zips AS SELECT id, zip FROM a; CREATE VIEW away AS SELECT old FROM a;
            INSERT INTO a VALUES (1, '007', 'x'); INSERT INTO b VALUES (1, 2)
            """
        let target = """
            CREATE TABLE a(id INTEGER PRIMARY KEY, zip INTEGER, new); CREATE TABLE b(id INTEGER PRIMARY KEY, n, zip, old);
            CREATE VIEW zips AS SELECT id, zip FROM a;
            """
        let hints = SchemaPlan.Hints(
            renamedColumns: ["a": ["old": "new"]],
            values: [
                "a": ["zip": "zip"],
                "b": [
                    "zip": "(SELECT zip FROM zips WHERE id = b.id)",
                    "old": "(SELECT a.old || away.old FROM a, away)",
                ],
            ]
        )
        let db = try database(script)
        let plan = try SchemaPlan(from: db, to: target, hints: hints)
        #expect(
            plan.steps.map(\.description) == [
                "rebuild the table b", "rebuild the table a", "drop the view away",
            ]
        )
        try plan.apply(db)
        #expect(try db.query("SELECT b.zip, b.old, a.zip, a.new FROM a, b") == [["007", "xx", 7, "x"]])
        #expect(try SchemaPlan(from: db, to: target, hints: hints).steps.isEmpty)

        var circle = hints
        circle.values["a"]?["zip"] = "zip + (SELECT n FROM b)"
        let error = try sqlError { try SchemaPlan(from: database(script), to: target, hints: circle) }
        #expect(
            error.description
                == "The expressions in values for the tables a, b read each other's tables, so none of these can be"
                + " changed first."
                + " Nothing was changed. Set some of the values in a migration."
        )
    }

    @Test(arguments: [
        (
            "CREATE VIRTUAL TABLE f USING fts5(title); INSERT INTO f VALUES ('x')",
            "VIRTUAL TABLE f USING fts5(title, body)"
        ),
        ("CREATE VIRTUAL TABLE f USING fts5(title); INSERT INTO f VALUES ('x')", "TABLE f(title)"),
        ("CREATE VIEW f AS SELECT 'x' AS title", "TABLE f(title)"),
        (
            "CREATE VIEW f AS SELECT title FROM g; CREATE VIEW g AS SELECT 'x' AS title",
            "TABLE g(title); CREATE TABLE f(a)"
        ),
    ])
    func `an expression of a plan reads what another thing takes the name of`(
        old: String,
        new: String
    ) throws {
        let db = try database(
            "CREATE TABLE item(id INTEGER PRIMARY KEY); INSERT INTO item VALUES (1); \(old)"
        )
        let target = "CREATE TABLE item(id INTEGER PRIMARY KEY, title); CREATE \(new)"
        let hints = SchemaPlan.Hints(
            values: ["item": ["title": "(SELECT title FROM f)"]],
            droppedTables: ["f"]
        )
        try SchemaPlan(from: db, to: target, hints: hints).apply(db)
        #expect(try db.query("SELECT title FROM item") == [["x"]])
        #expect(try SchemaPlan(from: db, to: target).steps.isEmpty)
    }
}

/// A connection with a function of its own, which reads the table.
private struct WithFunction: SQLConnection {
    static var dialect: SQLDialect { .sqlite }

    let db: SQLiteConnection

    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] {
        try db.query(sql.replacing("rows_of_t()", with: "(SELECT count(*) FROM t)"), arguments)
    }

    func execute(script: String) throws { try db.execute(script: script) }
}
