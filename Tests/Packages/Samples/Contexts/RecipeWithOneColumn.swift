import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

/// The page's closure for a recipe that changes the values of a column and its type, but not its name.
@Suite struct RecipeWithOneColumn {
    nonisolated private static let priced = """
        CREATE TABLE note (id INTEGER PRIMARY KEY, created TEXT, price INTEGER)
        """

    nonisolated private func isPriced(_ table: String, in db: SQLiteConnection) throws -> Bool? {
        let columns = try db.query(
            "SELECT type FROM pragma_table_info(?) WHERE name = 'price'",
            [SQLValue(table)]
        )
        return columns.isEmpty ? nil : columns == [["INTEGER"]]
    }

    nonisolated private func priceNotes(_ db: SQLiteConnection) throws {
        var choice = InterruptedTableCopy.Choice.backup
        if try isPriced("note", in: db) == false {
            choice = .table
        } else if try isPriced("note", in: db) == true, try isPriced("note_bak", in: db) == false {
            let copied = try db.query("SELECT 1 FROM note JOIN note_bak USING (id, created) LIMIT 1")
            if !copied.isEmpty { choice = .table }
        }
        try InterruptedTableCopy(of: "note").recover(db, choosing: choice)
        if try isPriced("note", in: db) == false {
            try TableRebuild(
                "note",
                as: Self.priced,
                values: ["price": "CAST(round(price * 100) AS INTEGER)"]
            ).run(db)
        }
        if try isPriced("note_kept", in: db) == true {
            try db.query(
                """
                INSERT INTO note (id, created, price)
                SELECT CASE WHEN id NOT IN (SELECT id FROM note) THEN id END, created, price FROM note_kept
                WHERE (id, created) NOT IN (SELECT id, created FROM note)
                ORDER BY id IN (SELECT id FROM note)
                """
            )
            try db.query("ALTER TABLE note_kept RENAME TO note_merged")
        }
    }

    /// The statements of the old file that change the database.
    private static let oldFile = [
        "ALTER TABLE note RENAME TO note_bak",
        priced,
        "INSERT INTO note SELECT id, created, CAST(round(price * 100) AS INTEGER) FROM note_bak",
        "DROP TABLE note_bak",
    ]

    /// Runs the old file up to its first error.
    private func runOldFile(_ count: Int, in db: SQLiteConnection) throws {
        do {
            for statement in Self.oldFile.prefix(count) { try db.query(statement) }
        } catch {
            #expect(error.code == .statementFailed)
        }
    }

    private func migrate(_ db: SQLiteConnection) throws {
        let versions = [Int64(5), 6].map { version in
            SQLiteMigration(version: version) { db, _ in try priceNotes(db) }
        }
        try SQLiteMigrator(versions).migrate(db)
    }

    private func notes() throws -> SQLiteConnection {
        try database(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, created TEXT, price TEXT);
            INSERT INTO note VALUES (1, 'mo', '12.50'), (2, 'tu', '3.00');
            """
        )
    }

    @Test(arguments: 0...4, 0...3)
    func `the column's type shows whether the values were changed`(first: Int, second: Int) throws {
        let db = try notes()
        try runOldFile(first, in: db)
        try runOldFile(second, in: db)
        let isUsable = try isPriced("note", in: db) == true
        if isUsable { try db.query("INSERT INTO note (created, price) VALUES ('added', 100)") }
        try migrate(db)
        #expect(
            try db.query("SELECT created, price FROM note ORDER BY id")
                == [["mo", 1250], ["tu", 300]] + (isUsable ? [["added", 100]] : [])
        )
    }

    @Test func `without AUTOINCREMENT, an added note keeps an id that is free`() throws {
        let db = try notes()
        try runOldFile(2, in: db)
        try db.query("INSERT INTO note VALUES (1, 'added 1', 100), (3, 'added 3', 100)")
        try migrate(db)
        let added = "SELECT id, created FROM note WHERE created LIKE 'added%' ORDER BY id"
        #expect(try db.query(added) == [[3, "added 3"], [4, "added 1"]])
    }

    @Test func `nothing shows that the old app has changed the values twice`() throws {
        let db = try notes()
        try runOldFile(4, in: db)
        try runOldFile(4, in: db)
        try migrate(db)
        #expect(try db.query("SELECT price FROM note") == [[125_000], [30_000]])
    }
}
