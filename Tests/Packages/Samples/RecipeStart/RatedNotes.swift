import AppMigrationsSchema

nonisolated let ratedNote = """
    CREATE TABLE note (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        created TEXT NOT NULL, title TEXT NOT NULL, rating INTEGER
    )
    """

/// True if a table has its new shape; nil if it doesn't exist.
nonisolated func isRated(
    _ table: String,
    in db: SQLiteConnection
) throws -> Bool? {
    let columns = try db.query(
        "SELECT name FROM pragma_table_info(?)",
        [SQLValue(table)]
    )
    return columns.isEmpty ? nil : columns.contains(["rating"])
}

/// Does the work of version 5, whatever the old file has left.
nonisolated func rateNotes(_ db: SQLiteConnection) throws {
    var choice = InterruptedTableCopy.Choice.backup
    if try isRated("note", in: db) == false {
        // The file hasn't begun, and an earlier recipe may have
        // left a note_bak.
        choice = .table
    } else if try isRated("note", in: db) == true,
        try isRated("note_bak", in: db) == false
    {
        // The file copies the rows in one statement: all or none.
        // So one row in both tables shows that it has copied them.
        // If users have deleted all of them since then, the counter
        // of AUTOINCREMENT has still passed their ids.
        let copied = try db.query(
            """
            SELECT 1 WHERE EXISTS (
                SELECT 1 FROM note JOIN note_bak USING (id, created)
            ) OR (
                (
                    SELECT seq FROM sqlite_sequence
                    WHERE name = 'note'
                ) >= (SELECT max(id) FROM note_bak)
                AND NOT EXISTS (
                    SELECT 1 FROM note
                    WHERE id <= (SELECT max(id) FROM note_bak)
                )
            )
            """
        )
        if !copied.isEmpty { choice = .table }
    }
    try InterruptedTableCopy(of: "note")
        .recover(db, choosing: choice)
    if try isRated("note", in: db) == false {
        try TableRebuild(
            "note",
            as: ratedNote,
            values: ["rating": "CAST(stars AS INTEGER)"]
        ).run(db)
    }
    if try isRated("note_kept", in: db) == true {
        // The app has added these notes while the others were
        // in note_bak. If an id is taken, the note gets a new one.
        try db.execute(
            script: """
                INSERT INTO note (id, created, title, rating)
                SELECT
                    CASE WHEN id NOT IN (SELECT id FROM note)
                    THEN id END, created, title, rating
                FROM note_kept;
                DROP TABLE note_kept;
                """
        )
    }
    try db.query(
        "CREATE INDEX IF NOT EXISTS note_by_title ON note (title)"
    )
}

func notesMigrator(folder: String) throws -> SQLiteMigrator {
    let recovering = [
        SQLiteMigration(version: 5, name: "rating") { db, _ in
            try rateNotes(db)
        },
        SQLiteMigration(version: 6, name: "recovery") { db, _ in
            try rateNotes(db)
            // Add the changes of 6 here.
        },
    ]
    let files = try SQLiteMigration.files(in: folder)
    return try SQLiteMigrator(files + recovering)
}

/// For a database whose ledger is empty: see "An app on SQLite".
func versionFound(in db: SQLiteConnection) throws -> Int64 {
    // If note_bak exists, version 5 has yet to be completed.
    if try isRated("note_bak", in: db) != nil { return 4 }
    switch try isRated("note", in: db) {
    case true?: return 5
    // If users can have them, recognize 1, 2 and 3 here too.
    case false?: return 4
    case nil: return 0
    }
}
