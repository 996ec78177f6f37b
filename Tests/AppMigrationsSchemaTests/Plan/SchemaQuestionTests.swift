import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

@Suite struct SchemaQuestionTests {
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
        // A slip of the pen answers nothing.
        let plan = try SchemaPlan(from: db, to: target, hints: .init(droppedTables: ["gon"]))
        #expect(plan.steps.isEmpty)
        #expect(
            plan.questions.map(\.description) == [
                "The target has no table gone, which has 0 rows. If it was renamed: renamedTables: [\"gone\": \"came\"] or"
                    + " renamedTables: [\"gone\": \"also\"]. To drop it with its content: droppedTables: [\"gone\"].",
                "The column a of the table t becomes NOT NULL. Say what rows without a value get:"
                    + " values: [\"t\": [\"a\": \"coalesce(a, '')\"]].",
                "The column b of the table t gets a type that can change its values. Give an expression that converts"
                    + " them. SQLite's own conversion, which keeps values that it can't convert, is values: [\"t\": [\"b\": \"b\"]].",
                "The new column n of the table t is NOT NULL and has no default. Give it a value:"
                    + " values: [\"t\": [\"n\": \"an expression\"]].",
                "The target's table t has no column c, which has a value in 1 row. If it was renamed: renamedColumns: [\"t\": [\"c\": \"n\"]] or"
                    + " renamedColumns: [\"t\": [\"c\": \"o\"]]. To drop it with its content: droppedColumns: [\"t\":"
                    + " [\"c\"]].",
                "The target's table t has no column d, which has a value in 1 row. If it was renamed: renamedColumns: [\"t\": [\"d\": \"n\"]] or"
                    + " renamedColumns: [\"t\": [\"d\": \"o\"]]. To drop it with its content: droppedColumns: [\"t\":"
                    + " [\"d\"]].",
                "The column e of the table t, which has a value in 1 row, becomes a generated column, so its values are"
                    + " lost. If that is acceptable: droppedColumns: [\"t\": [\"e\"]].",
                "The virtual table f can be changed only by dropping and creating it again, which loses its rows. If that"
                    + " is acceptable: droppedTables: [\"f\"].",
            ]
        )
        #expect(plan.questions[4].kind == .droppedColumn)
        #expect(plan.questions[4].column == "c")
        #expect(plan.questions[4].candidates == ["n", "o"])
        #expect(plan.questions.map(\.kind.description).sorted().first == "convertedValues")
        let error = try refused(db) { try plan.apply(db) }
        #expect(error.code == .openQuestions)
        #expect(error.description.hasPrefix("The target has no table gone, which has 0 rows. If"))
        #expect(error.description.hasSuffix("Nothing was changed. Answer the questions in the plan's hints."))

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

    /// The app ran `ALTER TABLE note RENAME TO note_bak` and died.
    @Test func `of a copy that was left behind it is told how much it holds, and the right name comes first`()
        throws
    {
        let target = "CREATE TABLE also(x); CREATE TABLE note(id, text, color)"
        let alone = try database(
            "CREATE TABLE note_bak(id, text); INSERT INTO note_bak VALUES (1, 'a'), (2, 'b')"
        )
        let question = try #require(try SchemaPlan(from: alone, to: target).questions.first)
        #expect(question.rowCount == 2)
        #expect(question.candidates == ["note", "also"])
        #expect(
            question.description.hasPrefix(
                "The target has no table note_bak, which has 2 rows. If it was renamed:"
                    + " renamedTables: [\"note_bak\": \"note\"] or"
            )
        )
        let half = try database(
            """
            CREATE TABLE note_bak(id, text); INSERT INTO note_bak VALUES (1, 'a');
            CREATE TABLE note(text, id, color); CREATE TABLE also(x)
            """
        )
        #expect(
            try SchemaPlan(from: half, to: target).questions.map(\.description) == [
                "The target has no table note_bak, which has 1 row. It may be a leftover copy of note, with rows that"
                    + " exist nowhere else for some users. Compare the tables in a migration first. To drop it with its"
                    + " content: droppedTables: [\"note_bak\"]."
            ]
        )
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
                "The column end of the table p gets a type that can change its values. Give an expression that converts"
                    + " them. SQLite's own conversion, which keeps values that it can't convert, is values: [\"p\": [\"end\": \"coalesce(zip, 0)\"]].",
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
    func `a hint can be copied from its question`(old: String, new: String, hint: String) throws {
        let db = try database("CREATE TABLE t(\(SQLName(old).quoted), x)")
        let column = new.isEmpty ? "" : "\(SQLName(new).quoted) NOT NULL, "
        let plan = try SchemaPlan(from: db, to: "CREATE TABLE t(\(column)x)")
        #expect(plan.questions.first?.description.contains(hint) == true, "\(plan.questions)")
    }
}
