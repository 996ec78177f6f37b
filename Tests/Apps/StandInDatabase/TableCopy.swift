import AppMigrationsSQLite
import AppMigrationsSchema

private let copy = InterruptedTableCopy(of: "note")

/// A half-full table next to its backup, which everything that belonged to the table has followed.
func makeInterruptedCopy(in db: SQLiteConnection) throws {
    try makeOld(db)
    try db.execute(
        script: """
            ALTER TABLE note RENAME TO note_bak;
            CREATE TABLE note(id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT, size);
            INSERT INTO note SELECT id, body, 0 FROM note_bak WHERE id = 1;
            """
    )
}

func recoverTable(in db: SQLiteConnection) throws {
    try db.query("PRAGMA foreign_keys = ON")
    try copy.recover(db, choosing: .backup)
}

/// Either nothing was done, or all of it, and no row of any table has gone.
func checkRecovery(in db: SQLiteConnection, isDone mustBeDone: Bool = false) throws {
    let isDone = try copy.state(in: db) == .none
    if mustBeDone, !isDone { throw Half(version: .null) }
    let (old, half) = isDone ? ("note", "note_kept") : ("note_bak", "note")
    let facts: [(String, [[SQLValue]])] = [
        ("SELECT * FROM \(old) ORDER BY id", [[1, "one", 1], [7, "seven", 7]]),
        ("SELECT * FROM \(half)", [[1, "one", 0]]),
        ("SELECT * FROM tag ORDER BY note", [[1, "a"], [7, "b"]]),
        ("SELECT * FROM log", []),
        ("SELECT body FROM bodies ORDER BY body", [["one"], ["seven"]]),
        ("SELECT \"table\" FROM pragma_foreign_key_list('tag')", [[.text(old)]]),
        (
            "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE tbl_name = '\(old)' ORDER BY name)",
            [[.text("\(old),note_body,noted")]]
        ),
        ("SELECT seq FROM sqlite_sequence WHERE name = '\(old)'", [[7]]),
        ("PRAGMA foreign_key_check", []),
        ("PRAGMA integrity_check", [["ok"]]),
    ]
    for (question, expected) in facts {
        let found = try db.query(question)
        if found != expected { throw Half(version: .text("\(question): \(found)")) }
    }
}
