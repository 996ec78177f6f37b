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
                    + " renamedTables: [\"gone\": \"also\"]. If it may go with what it holds: allowDrop: [\"gone\"].",
                "The column a of the table t becomes NOT NULL. Say what rows without a value get, such as"
                    + " coalesce(a, ''): values: [\"t\": [\"a\": \"an expression\"]].",
                "The column b of the table t gets a type that can change its values. Say how, by its name alone for"
                    + " SQLite's own conversion: values: [\"t\": [\"b\": \"an expression\"]].",
                "The new column n of the table t is NOT NULL and has no default. Give it a value:"
                    + " values: [\"t\": [\"n\": \"an expression\"]].",
                "The target's table t has no column c. If it was renamed: renamedColumns: [\"t\": [\"c\": \"n\"]] or"
                    + " renamedColumns: [\"t\": [\"c\": \"o\"]]. If it may go with what it holds: allowDrop: [\"t.c\"].",
                "The target's table t has no column d. If it was renamed: renamedColumns: [\"t\": [\"d\": \"n\"]] or"
                    + " renamedColumns: [\"t\": [\"d\": \"o\"]]. If it may go with what it holds: allowDrop: [\"t.d\"].",
                "The column e of the table t becomes a generated one. If its values may go: allowDrop: [\"t.e\"].",
                "The virtual table f can be changed only by making it anew, without its rows. If they may go:"
                    + " allowDrop: [\"f\"].",
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
            allowDrop: ["t.d", "t.e", "f"]
        )
        let answered = try SchemaPlan(from: db, to: target, hints: hints)
        #expect(answered.questions == [])
        #expect(answered.steps.filter(\.isRebuild).map(\.description) == ["rebuild the table t"])
        try answered.apply(db)
        #expect(try db.query("SELECT a, b, n, o FROM t") == [[1, 2, 3, nil]])
    }

    @Test(
        arguments: [
            (
                SchemaPlan.Hints(renamedTables: ["t": "v"]),
                "The hints rename the table t to v, which the target does not have"
            ),
            (.init(renamedTables: ["t": "u"]), "The hints rename the table t to u, and the target has both"),
            (
                .init(renamedColumns: ["t": ["a": "z"]]),
                "The hints rename the column a of the table t to z, which the target does not have"
            ),
            (
                .init(renamedColumns: ["t": ["a": "b", "b": "a"]]),
                "The hints rename the column a of the table t to b, and the other way round; exchange them in a migration"
            ),
            (
                .init(renamedColumns: ["t": ["a": "b"]]),
                "The hints rename the column a of the table t to b, and the target has both"
            ),
        ]
    )
    func `hints that contradict the target are an error`(hints: SchemaPlan.Hints, message: String) throws {
        let db = try database("CREATE TABLE t(a)")
        let error = try sqlError {
            try SchemaPlan(from: db, to: "CREATE TABLE t(a, b); CREATE TABLE u(a)", hints: hints)
        }
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
            try SchemaPlan(from: db, to: target, hints: .init(renamedTables: ["t": "u"], allowDrop: ["m"]))
        }
        #expect(
            error.description
                == "The table t cannot be renamed: no such module: nomodule. Nothing was changed."
                + " Rename it in a migration."
        )
        let plan = try SchemaPlan(from: db, to: "CREATE TABLE t(a, b)", hints: .init(allowDrop: ["m"]))
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
