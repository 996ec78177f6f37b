import Testing

@testable import AppMigrationsSQLite

@Suite struct SchemaPlanTests {
    @Test(
        arguments: SchemaPair.same + SchemaPair.made + SchemaPair.added + SchemaPair.rebuilt
            + SchemaPair.answered
    )
    func `a plan makes the schema the target's, and a second one is empty`(_ pair: SchemaPair) throws {
        let db = try database(pair.from)
        let plan = try SchemaPlan(from: db, to: pair.to, hints: pair.hints)
        #expect(plan.questions == [])
        #expect(plan.steps.map(\.description) == pair.steps)
        try plan.apply(db)
        #expect(try db.query(pair.query) == pair.rows)
        let second = try SchemaPlan(from: db, to: pair.to, hints: pair.hints)
        #expect(second.steps.map(\.description) == [])
        #expect(second.questions == [])
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
        #expect(try db.query("PRAGMA legacy_alter_table") == [[0]])
        #expect(try db.query("PRAGMA integrity_check") == [["ok"]])
    }

    @Test(
        arguments: SchemaPair.same + SchemaPair.made + SchemaPair.added + SchemaPair.rebuilt
            + SchemaPair.answered
    )
    func `another library's connection gets the same plan`(_ pair: SchemaPair) throws {
        let db = try database(pair.from, foreignKeys: false)
        let foreign = Foreign(db: db)
        let plan = try SchemaPlan(from: foreign, to: pair.to, hints: pair.hints)
        #expect(plan.steps.map(\.description) == pair.steps)
        try db.query("BEGIN")
        try plan.apply(foreign)
        try db.query("COMMIT")
        #expect(try db.query(pair.query) == pair.rows)
        #expect(try SchemaPlan(from: foreign, to: pair.to, hints: pair.hints).steps.isEmpty)
    }

    @Test func `all questions are asked at once, and nothing is done before they are answered`() throws {
        let db = try database(
            """
            CREATE TABLE gone(a); CREATE TABLE t(a, b TEXT, c, d, e); CREATE VIRTUAL TABLE f USING fts5(a);
            INSERT INTO t VALUES (1, 2, 3, 4, 5);
            """
        )
        let target = """
            CREATE TABLE came(a); CREATE TABLE t(a NOT NULL, b INTEGER, e AS (a), n NOT NULL, o);
            CREATE VIRTUAL TABLE f USING fts5(b); CREATE TABLE also(x)
            """
        let plan = try SchemaPlan(from: db, to: target)
        #expect(plan.steps.isEmpty)
        #expect(
            plan.questions.map(\.description) == [
                "The target has no table gone. If it was renamed: renamedTables: [\"gone\": \"came\"] or"
                    + " renamedTables: [\"gone\": \"also\"]. If it may go with what it holds: droppedTables: [\"gone\"].",
                "The column a of the table t becomes NOT NULL. Say what rows without a value get:"
                    + " values: [\"t\": [\"a\": \"coalesce(a, '')\"]].",
                "The column b of the table t gets a type that can change its values. Say how; SQLite's own conversion"
                    + " is values: [\"t\": [\"b\": \"b\"]].",
                "The new column n of the table t is NOT NULL and has no default. Give it a value:"
                    + " values: [\"t\": [\"n\": \"an expression\"]].",
                "The target's table t has no column c. If it was renamed: renamedColumns: [\"t\": [\"c\": \"n\"]] or"
                    + " renamedColumns: [\"t\": [\"c\": \"o\"]]. If it may go with what it holds: droppedColumns: [\"t\": [\"c\"]].",
                "The target's table t has no column d. If it was renamed: renamedColumns: [\"t\": [\"d\": \"n\"]] or"
                    + " renamedColumns: [\"t\": [\"d\": \"o\"]]. If it may go with what it holds: droppedColumns: [\"t\": [\"d\"]].",
                "The column e of the table t becomes a generated one. If its values may go: droppedColumns: [\"t\": [\"e\"]].",
                "The virtual table f can be changed only by making it anew, without its rows. If they may go:"
                    + " droppedTables: [\"f\"].",
            ]
        )
        #expect(plan.questions[4].kind == .droppedColumn)
        #expect(plan.questions[4].column == "c")
        #expect(plan.questions[4].candidates == ["n", "o"])
        #expect(plan.questions.map(\.kind.description).sorted().first == "convertedValues")
        let error = try refused(db) { try plan.apply(db) }
        #expect(error.code == .openQuestions)
        #expect(error.description.hasPrefix("The target has no table gone. If it was renamed: "))
        #expect(error.description.hasSuffix("Nothing was changed. Answer in the plan's hints."))

        let hints = SchemaPlan.Hints(
            renamedTables: ["gone": "came"],
            renamedColumns: ["t": ["c": "n"]],
            values: ["t": ["a": "coalesce(a, 0)", "b": "b", "n": "coalesce(c, 0)"]],
            droppedTables: ["f"],
            droppedColumns: ["t": ["d", "e"]]
        )
        let answered = try SchemaPlan(from: db, to: target, hints: hints)
        #expect(answered.questions == [])
        #expect(answered.steps.filter(\.isRebuild).map(\.description) == ["rebuild the table t"])
        try answered.apply(db)
        #expect(try db.query("SELECT a, b, n, o FROM t") == [[1, 2, 3, nil]])
    }

    @Test func `a column that becomes NOT NULL and gets another type is asked about twice`() throws {
        let db = try database(
            "CREATE TABLE p(id INTEGER PRIMARY KEY, zip TEXT); INSERT INTO p VALUES (1, '00742')"
        )
        let target = "CREATE TABLE p(id INTEGER PRIMARY KEY, `end` INTEGER NOT NULL)"
        let renamed = ["p": ["zip": "end"]]
        let plan = try SchemaPlan(from: db, to: target, hints: .init(renamedColumns: renamed))
        #expect(
            plan.questions.map(\.description) == [
                "The column end of the table p becomes NOT NULL. Say what rows without a value get:"
                    + " values: [\"p\": [\"end\": \"coalesce(zip, 0)\"]].",
                "The column end of the table p gets a type that can change its values. Say how; SQLite's own conversion"
                    + " is values: [\"p\": [\"end\": \"coalesce(zip, 0)\"]].",
            ]
        )
        let hints = SchemaPlan.Hints(renamedColumns: renamed, values: ["p": ["end": "coalesce(zip, 0)"]])
        try SchemaPlan(from: db, to: target, hints: hints).apply(db)
        #expect(try db.query("SELECT `end` FROM p") == [[742]])
    }

    @Test(arguments: [
        ("a\"b", "", "droppedColumns: [\"t\": [\"a\\\"b\"]]"),
        ("a\\b", "", "droppedColumns: [\"t\": [\"a\\\\b\"]]"),
        ("a`b", "a`b", "values: [\"t\": [\"a`b\": \"coalesce(`a``b`, '')\"]]"),
        ("group", "group", "values: [\"t\": [\"group\": \"coalesce(`group`, '')\"]]"),
    ])
    func `a hint can be copied from its question, whatever a name is`(old: String, new: String, hint: String)
        throws
    {
        let db = try database("CREATE TABLE t(\(SQLName(old).quoted), x)")
        let column = new.isEmpty ? "" : "\(SQLName(new).quoted) NOT NULL, "
        let plan = try SchemaPlan(from: db, to: "CREATE TABLE t(\(column)x)")
        #expect(plan.questions.first?.description.contains(hint) == true, "\(plan.questions)")
    }

    @Test(
        arguments: [
            (
                SchemaPlan.Hints(renamedTables: ["t": "v"]),
                "The hints rename the table t to v, which the target does not have"
            ),
            (
                .init(renamedColumns: ["t": ["a": "z"]]),
                "The hints rename the column a of the table t to z, which the target does not have"
            ),
            (
                .init(renamedColumns: ["t": ["a": "b", "b": "a"]]),
                "The hints rename the column a of the table t to b, and the other way round; exchange them in a migration"
            ),
            (
                .init(renamedTables: ["t": "w", "w": "t"]),
                "The hints rename the table t to w, and the other way round; exchange them in a migration"
            ),
            (
                .init(renamedTables: ["t": "u", "w": "u"]),
                "The hints rename the table w to u, and t, too"
            ),
            (
                .init(renamedColumns: ["t": ["a": "c", "b": "c"]]),
                "The hints rename the column b of the table t to c, and a, too"
            ),
            (
                .init(droppedColumns: ["T": ["A"]]),
                "The hints drop the column a of the table t, and the target has it"
            ),
            (.init(droppedTables: ["T"]), "The hints drop the table t, and the target has it"),
            (
                .init(values: ["t": ["c": "nope + 1"]]),
                "The value for the column c of the table t does not compile: no such column: nope"
            ),
            (
                .init(values: ["t": ["c": "\"nope\" || 1"]]),
                "The value for the column c of the table t has a name in double quotes that SQLite would take for a text:"
                    + " no such column: nope"
            ),
        ]
    )
    func `hints that contradict the target are an error`(hints: SchemaPlan.Hints, message: String) throws {
        let db = try database("CREATE TABLE t(a, b); CREATE TABLE w(a)")
        let target = "CREATE TABLE t(a, b, c); CREATE TABLE u(a); CREATE TABLE w(a)"
        let error = try sqlError { try SchemaPlan(from: db, to: target, hints: hints) }
        #expect(error.description == "\(message). Nothing was changed. Correct the hints.")
    }

    @Test(
        arguments: [
            (
                "CREATE TABLE t(a); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END; CREATE VIEW v AS SELECT 1",
                3
            ),
            ("CREATE TABLE t(a);;\n-- end", 1), ("", 0),
            ("CREATE TABLE t(a); INSERT INTO t VALUES (1)", nil), ("CREATE TEMP TABLE t(a)", nil),
            ("CREATE TABLE temp.t(a)", nil), ("PRAGMA user_version = 1", nil),
        ]
    )
    func `a target of nothing but CREATE statements is read without running it`(script: String, count: Int?) {
        #expect(SchemaSnapshot(reading: script)?.objects.count == count)
    }

    @Test(arguments: [
        (
            "CREATE TABLE t(a); INSERT INTO t VALUES (1)",
            "The target puts rows into the table t, and a plan makes tables without rows. Nothing was changed."
                + " Insert them in a migration."
        ),
        (
            "CREATE TABLE t(a); CREATE TEMP VIEW v AS SELECT 1",
            "The target makes the temporary view v, which goes with its connection. Nothing was changed."
                + " Take it out of the target."
        ),
    ])
    func `a target with more than a schema is refused`(target: String, message: String) throws {
        let db = try database("CREATE TABLE t(b)")
        #expect(try sqlError { try SchemaPlan(from: db, to: target) }.description == message)
    }

    @Test func `a target that is wrong is an error with its place`() throws {
        let db = try memory()
        let error = try sqlError { try SchemaPlan(from: db, to: "CREATE TABLE t(a);\nCREATE TABLE t(b)") }
        #expect(error.description == "line 2, column 14: table t already exists (SQLite error 1).")
        #expect(try sqlError { try SchemaPlan(from: db, to: "ATTACH 'x' AS y") }.code == .refusedStatement)
    }

    @Test func `a schema that was changed after the plan was made is left alone`() throws {
        let db = try database("CREATE TABLE t(a)")
        let plan = try SchemaPlan(from: db, to: "CREATE TABLE t(a, b)")
        try db.query("CREATE TABLE u(a)")
        let error = try refused(db) { try plan.apply(db) }
        #expect(
            error.description == "The schema was changed after the plan was made. Nothing was changed."
                + " Make the plan again."
        )
    }

    @Test(
        arguments: [
            ("CREATE TABLE t(a UNIQUE)", "INSERT INTO t VALUES (1), (1)", SQLError.Code.statementFailed),
            ("CREATE TABLE t(a); CREATE VIEW v AS SELECT nope FROM t", "SELECT 1", .brokenObject),
            ("CREATE TABLE t(a, c REFERENCES t(nope))", "SELECT 1", .statementFailed),
            (
                "CREATE TABLE t(a REFERENCES p(id)); CREATE TABLE p(id UNIQUE)", "INSERT INTO t VALUES (5)",
                .brokenReference
            ),
        ]
    )
    func `a step that fails takes all others back`(target: String, rows: String, code: SQLError.Code) throws {
        let db = try database("CREATE TABLE t(a); \(rows)")
        let plan = try SchemaPlan(from: db, to: "CREATE TABLE first(x); \(target)")
        let error = try refused(db) { try plan.apply(db) }
        #expect(error.code == code)
    }

    @Test func `where the schema cannot be copied, tables are rebuilt, and cannot be renamed`() throws {
        let db = try database("CREATE TABLE t(a)", foreignKeys: false)
        try db.execute(
            script: """
                PRAGMA writable_schema = ON;
                INSERT INTO sqlite_master VALUES ('table', 'm', 'm', 0, 'CREATE VIRTUAL TABLE m USING nomodule(a)');
                """
        )
        let target = "CREATE TABLE u(a)"
        let error = try sqlError {
            try SchemaPlan(
                from: db,
                to: target,
                hints: .init(renamedTables: ["t": "u"], droppedTables: ["m"])
            )
        }
        #expect(
            error.description
                == "The table t cannot be renamed: no such module: nomodule. Nothing was changed."
                + " Rename it in a migration."
        )
        let plan = try SchemaPlan(from: db, to: "CREATE TABLE t(a, b)", hints: .init(droppedTables: ["m"]))
        #expect(plan.steps.map(\.description) == ["rebuild the table t", "drop the table m"])
    }

    @Test func `a cancelled task stops a plan, and nothing is changed`() async throws {
        let task = Task {
            let db = try database("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
            for _ in 0..<12 { try db.query("INSERT INTO t SELECT a + 1 FROM t") }
            let plan = try SchemaPlan(from: db, to: "CREATE TABLE t(b, a)")
            let before = try everything(in: db)
            withUnsafeCurrentTask { $0?.cancel() }
            return (try sqlError { try plan.apply(db) }.code, before, db)
        }
        let (code, before, db) = try await task.value
        #expect(code == .cancelled)
        #expect(try everything(in: db) == before)
    }
}
