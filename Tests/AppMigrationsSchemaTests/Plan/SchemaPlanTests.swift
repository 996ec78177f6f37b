import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

@Suite struct SchemaPlanTests {
    @Test(arguments: SchemaPair.all)
    func `a plan makes the schema the target's, and a second one is empty`(_ pair: SchemaPair) throws {
        let db = try database(pair.from)
        let complaints = try db.query("PRAGMA integrity_check")
        let plan = try SchemaPlan(from: db, to: pair.to, hints: pair.hints)
        #expect(plan.questions == [])
        #expect(plan.steps.map(\.description) == pair.steps)
        var told = [String]()
        try plan.apply(db) { told.append("\($0.completed) of \($0.total): \($0.step)") }
        #expect(told == pair.steps.enumerated().map { "\($0.offset) of \(pair.steps.count): \($0.element)" })
        #expect(try db.query(pair.query) == pair.rows)
        let second = try SchemaPlan(from: db, to: pair.to, hints: pair.hints)
        #expect(second.steps.map(\.description) == [])
        #expect(second.questions == [])
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
        #expect(try db.query("PRAGMA legacy_alter_table") == [[0]])
        // From SQLite 3.44 on, the check complains of some full-text indexes that are as they should be.
        #expect([[["ok"]], complaints].contains(try db.query("PRAGMA integrity_check")))
    }

    @Test(arguments: SchemaPair.all)
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
                "The hints rename the table w to u, to which they also rename t"
            ),
            (
                .init(renamedColumns: ["t": ["a": "c", "b": "c"]]),
                "The hints rename the column b of the table t to c, to which they also rename a"
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
                "The value for the column c of the table t has a double-quoted name that SQLite would treat as a string"
                    + " literal:"
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

    @Test(arguments: [
        (
            "CREATE TABLE t(a); INSERT INTO t VALUES (1)",
            "The target puts rows into the table t, but a plan creates only the schema. Nothing was changed."
                + " Insert them in a migration."
        ),
        (
            "CREATE TABLE t(a); CREATE TEMP VIEW v AS SELECT 1",
            "The target makes the temporary view v, which exists only on its own connection. Nothing was changed."
                + " Remove it from the target."
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
                .foreignKeyViolation
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
                + " Register it on each private connection in the preparing closure, or rename the table in a migration."
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

@Suite struct SchemaRenameTests {
    @Test(arguments: [
        ("a b", "a", "b", "a b", ""), ("a b", "b", "b", "", ""), ("a b", "a b", "b", "", ""),
        ("a b,b c", "a", "c", "a c", ""), ("a b,b c", "b", "c", "b c", ""),
        ("a b,b c", "a b", "b c", "b c,a b", ""),
        ("a b,b c", "a", "b c", "a c", ""), ("a b", "a", "a b", "a b", ""), ("a b", "a b", "a b", "", ""),
        ("a b,b a", "a", "a", "", ""), ("a b,b a", "b", "a", "b a", ""), ("a b", "a", "x", "", "a"),
        ("a b,b c,c d", "a b c", "b c d", "c d,b c,a b", ""), ("a A", "a", "A", "", ""),
        ("x y", "a", "a", "", ""),
        ("a b,b c", "a b", "c", "b c", ""),
    ])
    func `hints of every release lead a database of any to the target`(
        hints: String,
        from: String,
        to: String,
        pending: String,
        gone: String
    ) throws {
        func names(_ text: String) -> [SQLName] { text.split(separator: " ").map { SQLName(String($0)) } }
        let asked = hints.split(separator: ",").map { names(String($0)) }.map { (old: $0[0], new: $0[1]) }
        let renames = try SchemaRenames(
            asked,
            from: names(from).contains,
            to: names(to).contains,
            mayDrop: { $0 == SQLName("b") }
        ) { old, new, reason in SQLError(.refusedSchemaChange, "\(old) \(new) \(reason)") }
        #expect(renames.pending.map { "\($0.old) \($0.new)" }.joined(separator: ",") == pending)
        #expect(renames.droppedNames.map(\.text).joined() == gone)
    }
}
