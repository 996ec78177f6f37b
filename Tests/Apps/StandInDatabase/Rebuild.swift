import AppMigrationsSQLite
import AppMigrationsSchema

/// A table with everything that depends on one, before and after it is rebuilt.
private let old = """
    PRAGMA foreign_keys = ON;
    BEGIN;
    CREATE TABLE note(id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT, gone);
    CREATE INDEX note_body ON note(body);
    CREATE TABLE tag(note REFERENCES note ON DELETE CASCADE, name);
    CREATE TABLE log(x);
    CREATE TRIGGER noted AFTER INSERT ON note BEGIN INSERT INTO log VALUES (new.id); END;
    CREATE VIEW bodies AS SELECT body FROM note;
    INSERT INTO note VALUES (1, 'one', 1), (7, 'seven', 7);
    DELETE FROM log;
    INSERT INTO tag VALUES (1, 'a'), (7, 'b');
    COMMIT
    """

private let rebuild = TableRebuild(
    "note",
    as:
        "CREATE TABLE note(id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL CHECK (body <> ''), size)",
    values: ["size": "length(body)"],
    dropping: ["gone"]
)

func makeOld(_ db: SQLiteConnection) throws { try db.execute(script: old) }

func runRebuild(of db: SQLiteConnection) throws {
    try db.query("PRAGMA foreign_keys = ON")
    if try isOld(db) { try rebuild.run(db) }
}

private func isOld(_ db: SQLiteConnection) throws -> Bool {
    try db.query("SELECT count(*) FROM pragma_table_info('note') WHERE name = 'gone'") == [[1]]
}

/// All of the table and what hangs on it is old, or all of it new, and no row of another table has gone.
func checkRebuild(of db: SQLiteConnection) throws {
    let rows: [[SQLValue]] =
        try isOld(db) ? [[1, "one", 1], [7, "seven", 7]] : [[1, "one", 3], [7, "seven", 5]]
    let facts: [(String, [[SQLValue]])] = [
        ("SELECT * FROM note ORDER BY id", rows),
        ("SELECT * FROM tag ORDER BY note", [[1, "a"], [7, "b"]]),
        ("SELECT * FROM log", []),
        ("SELECT body FROM bodies ORDER BY body", [["one"], ["seven"]]),
        ("SELECT seq FROM sqlite_sequence", [[7]]),
        (
            "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master ORDER BY name)",
            [["bodies,log,note,note_body,noted,sqlite_sequence,tag"]]
        ),
        ("PRAGMA foreign_key_check", []),
        ("PRAGMA integrity_check", [["ok"]]),
    ]
    for (question, expected) in facts {
        let found = try db.query(question)
        if found != expected { throw Half(version: .text("\(question): \(found)")) }
    }
}
