import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// A rename beside something that was broken before, in a database with references.
struct BrokenRename: Sendable, CustomTestStringConvertible {
    let name: String
    let from: String
    let to: String
    var hints = SchemaPlan.Hints(renamedTables: ["t": "u"])
    let query: String
    let rows: [[SQLValue]]

    var testDescription: String { name }

    private static let tables = """
        CREATE TABLE t(id INTEGER PRIMARY KEY); CREATE TABLE c(t REFERENCES t ON DELETE CASCADE);
        INSERT INTO t VALUES (1); INSERT INTO c VALUES (1);
        """
    private static let wanted = """
        CREATE TABLE u(id INTEGER PRIMARY KEY); CREATE TABLE c(t REFERENCES u ON DELETE CASCADE);
        """
    private static let view = "CREATE VIEW broken AS SELECT * FROM nowhere;"
    private static let trigger =
        "CREATE TRIGGER broken AFTER INSERT ON c BEGIN INSERT INTO nowhere VALUES (1); END;"

    private static func rename(
        _ name: String,
        _ from: String,
        _ to: String,
        hints: SchemaPlan.Hints = .init(renamedTables: ["t": "u"]),
        _ query: String = "SELECT id, t FROM u, c",
        _ rows: [[SQLValue]] = [[1, 1]]
    ) -> BrokenRename {
        BrokenRename(name: name, from: from, to: to, hints: hints, query: query, rows: rows)
    }

    static let all = [
        rename("nothing broken", tables, wanted),
        rename("a view", tables + view, wanted + view),
        rename("a view that goes", tables + view, wanted),
        rename("a view that is corrected", tables + view, wanted + "CREATE VIEW broken AS SELECT id FROM u"),
        rename("a trigger", tables + trigger, wanted + trigger),
        rename("a trigger that goes", tables + trigger, wanted),
        rename(
            "a view and a trigger",
            tables + view + trigger.replacing("broken", with: "other"),
            wanted + view + trigger.replacing("broken", with: "other")
        ),
        rename(
            "a table that refers to itself",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, p REFERENCES t ON DELETE CASCADE); INSERT INTO t VALUES (1, NULL), (2, 1);"
                + view,
            "CREATE TABLE u(id INTEGER PRIMARY KEY, p REFERENCES u ON DELETE CASCADE);" + view,
            "SELECT id, p FROM u",
            [[1, nil], [2, 1]]
        ),
        rename(
            "two tables that refer to each other",
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, o REFERENCES o); CREATE TABLE o(id INTEGER PRIMARY KEY, t REFERENCES t);
            INSERT INTO t VALUES (1, NULL); INSERT INTO o VALUES (1, 1); UPDATE t SET o = 1;
            """ + view,
            "CREATE TABLE u(id INTEGER PRIMARY KEY, o REFERENCES o); CREATE TABLE o(id INTEGER PRIMARY KEY, t REFERENCES u);"
                + view,
            "SELECT u.o, o.t FROM u, o",
            [[1, 1]]
        ),
        rename(
            "both tables of a reference get another name",
            tables + view,
            "CREATE TABLE u(id INTEGER PRIMARY KEY); CREATE TABLE d(t REFERENCES u ON DELETE CASCADE);"
                + view,
            hints: .init(renamedTables: ["t": "u", "c": "d"]),
            "SELECT id, t FROM u, d"
        ),
        rename(
            "a column that is referred to",
            "CREATE TABLE t(a UNIQUE); CREATE TABLE c(t REFERENCES t(a) ON DELETE CASCADE); INSERT INTO t VALUES (1); INSERT INTO c VALUES (1);"
                + view,
            "CREATE TABLE t(b UNIQUE); CREATE TABLE c(t REFERENCES t(b) ON DELETE CASCADE);" + view,
            hints: .init(renamedColumns: ["t": ["a": "b"]]),
            "SELECT b, t FROM t, c"
        ),
        rename(
            "a table and a column, with a new column beside them",
            "CREATE TABLE t(a UNIQUE); CREATE TABLE c(t REFERENCES t(a) ON DELETE CASCADE); INSERT INTO t VALUES (1); INSERT INTO c VALUES (1);"
                + trigger,
            "CREATE TABLE u(b UNIQUE, n); CREATE TABLE c(t REFERENCES u(b) ON DELETE CASCADE);" + trigger,
            hints: .init(renamedTables: ["t": "u"], renamedColumns: ["u": ["a": "b"]]),
            "SELECT b, t FROM u, c"
        ),
        rename(
            "a new column that refers to the table",
            tables + view,
            "CREATE TABLE u(id INTEGER PRIMARY KEY); CREATE TABLE c(t REFERENCES u ON DELETE CASCADE, x REFERENCES u);"
                + view,
            "SELECT id, t, x FROM u, c",
            [[1, 1, nil]]
        ),
        rename(
            "a table beside one that refers to nothing that is there",
            tables + "CREATE TABLE lost(x REFERENCES gone); INSERT INTO lost VALUES (NULL);" + view,
            wanted + "CREATE TABLE lost(x REFERENCES gone);" + view
        ),
    ]
}

@Suite struct ForeignKeysOnTests {
    /// Some builds of SQLite turn foreign keys on for each new connection, private ones too.
    @Test(arguments: BrokenRename.all, [false, true])
    func `a rename beside what was broken before works whether foreign keys are on or off`(
        _ rename: BrokenRename,
        isOn: Bool
    ) throws {
        let db = try database(rename.from, foreignKeys: isOn)
        func plan() throws -> SchemaPlan {
            try SchemaPlan(from: db, to: rename.to, hints: rename.hints) { handle in
                try SQLiteConnection(borrowing: handle).query("PRAGMA foreign_keys = \(isOn ? "ON" : "OFF")")
            }
        }
        let first = try plan()
        #expect(first.questions == [])
        try first.apply(db)
        #expect(try db.query(rename.query) == rename.rows)
        #expect(try plan().steps.map(\.description) == [])
        #expect(try db.query("PRAGMA foreign_keys") == [[isOn ? 1 : 0]])
        #expect(try db.query("PRAGMA foreign_key_check") == [])
    }
}
