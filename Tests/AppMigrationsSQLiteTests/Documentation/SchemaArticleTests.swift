import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

@Suite struct SchemaArticleTests {
    @Test func `a table of users gains a last name, as the article says`() throws {
        let db = try database(
            """
            CREATE TABLE t_AppUser (u_id INTEGER PRIMARY KEY AUTOINCREMENT, u_name TEXT, u_mail TEXT);
            CREATE INDEX user_by_name ON t_AppUser (u_name);
            CREATE TABLE t_Order (o_id INTEGER PRIMARY KEY, o_user REFERENCES t_AppUser ON DELETE CASCADE);
            CREATE VIEW v_Order AS SELECT o_id, u_name FROM t_Order JOIN t_AppUser ON u_id = o_user;
            INSERT INTO t_AppUser VALUES (1, 'Ada Lovelace', 'ada@example.org'), (5, 'Plato', NULL), (9, 'Gone', NULL);
            INSERT INTO t_Order VALUES (70, 1), (71, 5); DELETE FROM t_AppUser WHERE u_id = 9;
            """
        )
        try Migrator([addingALastName()]).migrate(db)
        try db.query("INSERT INTO t_AppUser(u_name, u_last_name) VALUES ('Émilie', 'du Châtelet')")
        #expect(
            try db.query("SELECT * FROM t_AppUser") == [
                [1, "Ada Lovelace", "Lovelace", "ada@example.org"], [5, "Plato", "", nil],
                [10, "Émilie", "du Châtelet", nil],
            ]
        )
        #expect(try db.query("SELECT * FROM v_Order") == [[70, "Ada Lovelace"], [71, "Plato"]])
        #expect(
            try db.query("SELECT name FROM sqlite_master WHERE name = 'user_by_name'") == [["user_by_name"]]
        )
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
    }

    @Test func `notes lose their color, as the article says`() throws {
        let db = try database(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, header TEXT, body TEXT, color);
            CREATE INDEX note_by_color ON note (color); INSERT INTO note VALUES (1, '', 'a', 'b', 'red')
            """
        )
        try droppingColors(db)
        #expect(try db.query("SELECT * FROM note") == [[1, "Untitled", "ab"]])
    }

    @Test func `items are numbered, as the article says`() throws {
        let db = try database(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO item VALUES (5, 'a'), (9, 'b')"
        )
        try numberingItems(db)
        #expect(try db.query("SELECT id, position FROM item") == [[5, 0], [9, 1]])
    }

    @Test func `a schema is inferred, as the article says`() throws {
        let db = try database(
            """
            CREATE TABLE entry (id INTEGER PRIMARY KEY, headline TEXT NOT NULL, color, created REAL);
            INSERT INTO entry VALUES (1, 'First', 'red', 5.5)
            """
        )
        let plan = try inferring(db)
        #expect(
            plan.steps.map(\.description) == [
                "rename the table entry to note", "rename the column headline of the table note to title",
                "create the table folder", "rebuild the table note", "create the index note_by_folder",
            ]
        )
        #expect(try db.query("SELECT id, folder, title, created FROM note") == [[1, nil, "First", 5.5]])
        try Migrator([inferringInAMigration("\(Self.schema); CREATE TABLE more(a)")]).migrate(db)
        #expect(try tables(in: db) == ["folder", "more", "note"])
        #expect(try inferring(database(Self.schema)).steps.isEmpty)
    }

    @Test func `a question says what answers it, as the article prints it`() throws {
        let db = try database("CREATE TABLE note (id INTEGER PRIMARY KEY, headline TEXT)")
        let plan = try SchemaPlan(from: db, to: "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT)")
        var printed: [String] = []
        printing(plan) { printed.append("\($0)") }
        #expect(
            printed == [
                "The target's table note has no column headline. If it was renamed: "
                    + #"renamedColumns: ["note": ["headline": "title"]]. If it may go with what it holds: "#
                    + #"droppedColumns: ["note": ["headline"]]."#
            ]
        )
        #expect(try sqlError { try plan.apply(db) }.code == .openQuestions)
    }

    private static let schema = """
        CREATE TABLE folder (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL
        );
        CREATE TABLE note (id INTEGER PRIMARY KEY, folder INTEGER REFERENCES folder ON DELETE SET NULL,
            title TEXT NOT NULL, created REAL);
        CREATE INDEX note_by_folder ON note (folder, created DESC)
        """
}
