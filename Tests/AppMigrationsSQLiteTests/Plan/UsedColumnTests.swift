import Testing

@testable import AppMigrationsSQLite

/// A column goes without a question only where an expression really uses it.
@Suite struct UsedColumnTests {
    @Test(arguments: [
        ("date('now')", false), ("CAST(id AS text)", false), ("CAST(id AS double precision)", false),
        ("(SELECT kinds.text FROM kinds)", false), ("(SELECT text FROM kinds)", false),
        ("id COLLATE text", false), ("'text'", false), ("upper(text)", true), ("note.text", true),
        ("\"text\" || id", true), ("(SELECT max(n) FROM kinds WHERE n < note.text)", true),
        ("coalesce(CAST(id AS integer), text)", true),
    ])
    func `a name counts as the column where it can be nothing else`(expression: String, isUsed: Bool) {
        let used = SQLTokens(expression).columns(of: [SQLName("note")])
        #expect(used.contains(SQLName("text")) == isUsed)
    }

    @Test(arguments: ["date('now')", "CAST(id AS date)", "(SELECT kinds.date FROM kinds)"])
    func `a column that no expression uses is asked about, and refused by a rebuild`(expression: String)
        throws
    {
        let db = try SQLiteConnection(path: ":memory:")
        try db.execute(
            script: """
                CREATE TABLE kinds(date);
                CREATE TABLE note(id INTEGER PRIMARY KEY, date TEXT);
                INSERT INTO note VALUES (1, '2026-11-21');
                """
        )
        let target = "CREATE TABLE note(id INTEGER PRIMARY KEY, day TEXT NOT NULL)"
        let plan = try SchemaPlan(
            from: db,
            to: "CREATE TABLE kinds(date); \(target);",
            hints: SchemaPlan.Hints(values: ["note": ["day": expression]])
        )
        #expect(plan.questions.map(\.kind) == [.droppedColumn])
        let error = #expect(throws: SQLError.self) { () throws in
            try TableRebuild("note", as: target, values: ["day": expression]).run(db)
        }
        #expect(error?.code == .refusedSchemaChange)
        #expect(try db.query("SELECT date FROM note") == [["2026-11-21"]])
    }
}
