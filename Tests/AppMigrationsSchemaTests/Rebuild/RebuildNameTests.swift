import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

/// Names that several things have, and readers of a column outside of its table.
@Suite struct RebuildNameTests {
    @Test func `a name to drop is the column's, where an index, a trigger and a view have it as well`() throws
    {
        let db = try database(
            """
            CREATE TABLE note(id, tags, color, done, body); CREATE VIEW tags AS SELECT 1 AS name;
            CREATE UNIQUE INDEX color ON note(body);
            CREATE TRIGGER done AFTER INSERT ON note BEGIN SELECT 1; END; INSERT INTO note VALUES (1, 2, 3, 4, 5);
            """
        )
        try TableRebuild("note", as: "CREATE TABLE note(id, body)", dropping: ["tags", "color", "done"]).run(
            db
        )
        #expect(
            try db.query("SELECT name FROM sqlite_master ORDER BY name") == [
                ["color"], ["done"], ["note"], ["tags"],
            ]
        )
    }

    @Test(arguments: [
        (
            "CREATE INDEX gone ON t(gone)",
            "The index gone would no longer compile: no such column: gone. Nothing was changed."
                + " Drop it with a statement first, because a column has the same name."
        ),
        (
            "CREATE TRIGGER gone AFTER UPDATE OF gone ON t BEGIN SELECT 1; END",
            "The trigger gone fires on updates of the column gone, which the new table doesn't have. Nothing was changed."
                + " Drop it with a statement first, because a column has the same name."
        ),
    ])
    func `what uses a column and has its name is dropped before`(object: String, message: String) throws {
        let db = try database("CREATE TABLE t(a, gone); \(object)")
        let rebuild = TableRebuild("t", as: "CREATE TABLE t(a)", dropping: ["gone"])
        #expect(try refused(db) { try rebuild.run(db) }.description == "Rebuilding the table t: \(message)")
        try db.query("DROP \(object.contains("INDEX") ? "INDEX" : "TRIGGER") gone")
        try rebuild.run(db)
    }

    @Test(arguments: [
        "USING fts5(title, content='note', content_rowid='id')", "USING fts4(content=\"note\", title)",
        "USING fts5(title, con=[note], content_rowid=id)",
    ])
    func `a full-text index that would not follow new values is found`(using: String) throws {
        let db = try database(
            """
            CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, body); CREATE VIRTUAL TABLE f \(using);
            INSERT INTO note VALUES (1, 'apple', 'b');
            """
        )
        let createTable = "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, body, more)"
        let rebuild = TableRebuild("note", as: createTable, values: ["title": "upper(title)"])
        #expect(
            try refused(db) { try rebuild.run(db) }.description
                == "Rebuilding the table note: The virtual table f is filled from the column title, and would be out of date."
                + " Nothing was changed. Drop the virtual table first, and create and fill it again afterwards; or change"
                + " values with"
                + " UPDATE, which fires triggers."
        )
        let dropping = TableRebuild(
            "note",
            as: "CREATE TABLE note(id INTEGER PRIMARY KEY, body)",
            dropping: ["title"]
        )
        #expect(
            try refused(db) { try dropping.run(db) }.message.contains("The virtual table f is filled from")
        )
        try TableRebuild("note", as: createTable, values: ["body": "upper(body)"]).run(db)
        try db.query("DROP TABLE f")
        try rebuild.run(db)
        #expect(try db.query("SELECT title, body FROM note") == [["APPLE", "B"]])
    }

    @Test(arguments: [
        ("id INTEGER PRIMARY KEY", "id INTEGER PRIMARY KEY, more", [:], nil),
        ("id INTEGER PRIMARY KEY", "id INT, more", [:], nil),
        ("id INT", "id INT, more", [:], nil),
        ("id INTEGER PRIMARY KEY", "new INTEGER PRIMARY KEY", ["new": "(id)"], "id"),
        ("id INTEGER PRIMARY KEY", "id INTEGER PRIMARY KEY", ["id": "-id"], "id"),
        ("id INTEGER PRIMARY KEY", "id INTEGER PRIMARY KEY NOT NULL", ["id": "id + 0"], "id"),
        ("id INTEGER PRIMARY KEY", "id INTEGER PRIMARY KEY) WITHOUT ROWID --", [:], "id"),
        ("id INT NOT NULL", "id INTEGER PRIMARY KEY", [:], "ROWID"),
    ])
    func `a full-text index that would find other rows is found`(
        old: String,
        new: String,
        values: [String: String],
        column: String?
    ) throws {
        let db = try database(
            """
            CREATE TABLE note(\(old), title TEXT); INSERT INTO note VALUES (10, 'apple'), (20, 'pear');
            CREATE VIRTUAL TABLE f USING fts5(title, content='note'); INSERT INTO f(f) VALUES ('rebuild')
            """
        )
        let createTable = "CREATE TABLE note(title TEXT, \(new)\n)".replacing(
            ") WITHOUT ROWID --\n)",
            with: ") WITHOUT ROWID"
        )
        let rebuild = TableRebuild("note", as: createTable, values: values)
        if let column {
            #expect(
                try refused(db) { try rebuild.run(db) }.message.contains(
                    "The virtual table f is filled from the column \(column), and would be out of date"
                )
            )
        } else {
            try rebuild.run(db)
        }
        #expect(try db.query("SELECT title FROM f WHERE f MATCH 'pear'") == [["pear"]])
    }
}
