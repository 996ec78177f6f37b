import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// A plan that makes a full-text index, and what is found by it afterwards.
struct IndexPair: Sendable, CustomTestStringConvertible {
    let from: String
    let to: String
    var hints = SchemaPlan.Hints()
    let steps: [String]
    let query: String
    let rows: [[SQLValue]]

    var testDescription: String { to }

    init(
        _ from: String,
        _ to: String,
        _ steps: [String],
        hints: SchemaPlan.Hints = .init(),
        query: String = "SELECT rowid FROM f WHERE f MATCH 'hello'",
        rows: [[SQLValue]] = [[7]]
    ) {
        self.from = from
        self.to = to
        self.steps = steps
        self.hints = hints
        self.query = query
        self.rows = rows
    }

    static let note = "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT, more);"
    static let rows = "INSERT INTO note VALUES (7, 'hello world', 'x'), (8, 'bye', 'y');"
    static let fts5 = "CREATE VIRTUAL TABLE f USING fts5(text, content='note', content_rowid='id');"
    static let fts4 = "CREATE VIRTUAL TABLE f USING fts4(content=\"note\", text);"
    static let made = ["create the table f", "fill the full-text index f"]

    static let filled = [
        IndexPair(note + rows, note + fts5, made),
        IndexPair(note + rows, note + fts4, made),
        // Without columns, it has those of its table, which have to be there.
        IndexPair(
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT);"
                + rows.replacing(", 'x'", with: "").replacing(", 'y'", with: ""),
            note + "CREATE VIRTUAL TABLE f USING fts4(content=\"note\");",
            ["add the column more to the table note"] + made
        ),
        IndexPair(
            note + rows,
            note + "CREATE VIEW v AS SELECT id AS number, text FROM note WHERE more = 'x';"
                + "CREATE VIRTUAL TABLE f USING fts5(text, content='v', content_rowid='number');",
            ["create the view v"] + made
        ),
        IndexPair(
            note + rows,
            "CREATE VIRTUAL TABLE f USING fts4(content=\"v\", text);" + note
                + "CREATE VIEW v AS SELECT id AS rowid, text FROM note;",
            ["create the view v"] + made
        ),
        IndexPair(
            note + rows,
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL, more);" + fts5,
            ["rebuild the table note"] + made,
            hints: .init(values: ["note": ["text": "coalesce(text, '')"]])
        ),
        IndexPair(
            "CREATE TABLE old(id INTEGER PRIMARY KEY, text TEXT, more);"
                + rows.replacing("note", with: "old"),
            note + fts5,
            ["rename the table old to note"] + made,
            hints: .init(renamedTables: ["old": "note"])
        ),
        IndexPair(
            "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, more);" + rows,
            note + fts5,
            ["rename the column body of the table note to text"] + made,
            hints: .init(renamedColumns: ["note": ["body": "text"]])
        ),
        IndexPair(
            note + rows,
            note
                + "CREATE VIRTUAL TABLE \"my index\" USING fts5(text, more, content=note, content_rowid=id, columnsize=0);",
            ["create the table my index", "fill the full-text index my index"],
            query: "SELECT rowid FROM \"my index\" WHERE \"my index\" MATCH 'hello'"
        ),
        IndexPair(
            note + rows,
            note + fts5
                + "CREATE TRIGGER r AFTER INSERT ON note BEGIN INSERT INTO f(rowid, text) VALUES (new.id, new.text); END;",
            made + ["create the trigger r"]
        ),
        IndexPair(
            note + rows,
            note + fts5 + fts4.replacing(" f ", with: " g "),
            [
                "create the table f", "create the table g", "fill the full-text index f",
                "fill the full-text index g",
            ],
            query: "SELECT f.rowid, g.rowid FROM f, g WHERE f MATCH 'hello' AND g MATCH 'hello'",
            rows: [[7, 7]]
        ),
        IndexPair(
            note + rows + fts5,
            note + fts5.replacing("content=", with: "tokenize='porter', content="),
            ["drop the table f"] + made,
            hints: .init(droppedTables: ["f"])
        ),
        IndexPair(
            note + rows + fts4 + "INSERT INTO f(f) VALUES ('rebuild');",
            note + fts5,
            ["drop the table f"] + made,
            hints: .init(droppedTables: ["f"])
        ),
        IndexPair(
            note + rows
                + "CREATE TRIGGER r AFTER INSERT ON note BEGIN INSERT INTO f(docid, text) VALUES (new.id, new.text); END;"
                + fts4,
            note + fts5.replacing(" f ", with: " g "),
            ["drop the trigger r", "drop the table f", "create the table g", "fill the full-text index g"],
            hints: .init(droppedTables: ["f"]),
            query: "SELECT rowid FROM g WHERE g MATCH 'hello'"
        ),
        IndexPair("", note + fts5, ["create the table note"] + made, rows: []),
    ]

    /// Indexes that have rows of their own, or nothing from which they could be filled.
    static let notFilled = [
        "CREATE VIRTUAL TABLE f USING fts5(text);",
        "CREATE VIRTUAL TABLE f USING fts4(text);",
        "CREATE VIRTUAL TABLE f USING fts5(text, content='');",
        "CREATE VIRTUAL TABLE f USING fts4(content='', text);",
        "CREATE VIRTUAL TABLE f USING fts5(text, content='nowhere');",
        "CREATE VIRTUAL TABLE f USING fts5(other, content='note');",
        "CREATE VIRTUAL TABLE f USING fts5vocab(g, 'row');",
        "CREATE VIRTUAL TABLE f USING rtree(id, low, high);",
        "CREATE VIRTUAL TABLE f USING fts3(content, note);",
    ]
}

@Suite struct FullTextIndexTests {
    @Test(arguments: IndexPair.filled)
    func `a full-text index that a plan makes is filled from its table`(_ pair: IndexPair) throws {
        let db = try database(pair.from)
        let plan = try SchemaPlan(from: db, to: pair.to, hints: pair.hints)
        #expect(plan.questions == [])
        #expect(plan.steps.map(\.description) == pair.steps)
        try plan.apply(db)
        #expect(try db.query(pair.query) == pair.rows)
        #expect(try SchemaPlan(from: db, to: pair.to, hints: pair.hints).steps.isEmpty)
        #expect(try db.query("PRAGMA integrity_check") == [["ok"]])
    }

    @Test(arguments: IndexPair.notFilled)
    func `an index with rows of its own, or without content, is only made`(index: String) throws {
        let db = try database(IndexPair.note + IndexPair.rows + "CREATE VIRTUAL TABLE g USING fts5(text)")
        let plan = try SchemaPlan(
            from: db,
            to: IndexPair.note + "CREATE VIRTUAL TABLE g USING fts5(text);" + index
        )
        #expect(plan.steps.map(\.description) == ["create the table f"])
        try plan.apply(db)
    }

    private static let changed = "The virtual table f can be changed only by dropping and creating it again"
    private static let drop = "droppedTables: [\"f\"]."

    @Test(arguments: [
        (
            IndexPair.fts5, IndexPair.fts5.replacing("content=", with: "tokenize='porter', content="),
            "\(changed). It is an index of note, and holds no rows. The plan fills the new one from note."
                + " If that is acceptable: \(drop)"
        ),
        (
            IndexPair.fts4, IndexPair.fts5,
            "\(changed). It is an index of note, and holds no rows. The plan fills the new one from note."
                + " If that is acceptable: \(drop)"
        ),
        (
            IndexPair.fts5, "CREATE VIRTUAL TABLE f USING fts5(text)",
            "\(changed). It is an index of note, and holds no rows. The new one is empty. If that is acceptable: \(drop)"
        ),
        (
            "CREATE VIRTUAL TABLE f USING fts5(text);", IndexPair.fts5,
            "\(changed), which loses its rows. The plan fills the new one from note. If that is acceptable: \(drop)"
        ),
        (
            "CREATE VIRTUAL TABLE f USING fts5(text);", "CREATE VIRTUAL TABLE f USING fts5(text, prefix=2)",
            "\(changed), which loses its rows. If that is acceptable: \(drop)"
        ),
        (
            "CREATE VIRTUAL TABLE f USING fts4(content='', text);", "CREATE VIRTUAL TABLE f USING fts5(text)",
            "\(changed), which loses its rows. If that is acceptable: \(drop)"
        ),
        (
            IndexPair.fts5, "",
            "The target has no table f. It is an index of note, and holds no rows. To drop it with its content: \(drop)"
        ),
        (
            "CREATE VIRTUAL TABLE f USING fts5(text); INSERT INTO f VALUES ('hello');", "",
            "The target has no table f, which has 1 row. To drop it with its content: \(drop)"
        ),
    ])
    func `a question about an index tells what it holds`(from: String, to: String, question: String) throws {
        let db = try database(IndexPair.note + IndexPair.rows + from)
        let plan = try SchemaPlan(from: db, to: IndexPair.note + to)
        #expect(plan.questions.map(\.description) == [question])
    }
}
