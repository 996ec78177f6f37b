import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

/// What becomes of tables with the names of shadow tables, beyond the steps of a plan.
@Suite struct ShadowNameTests {
    private static let table = "CREATE TABLE notes_content(id INTEGER PRIMARY KEY, body TEXT);"
    private static let index =
        "CREATE VIRTUAL TABLE notes USING fts5(body, content='notes_content', content_rowid='id');"
    private static let rows = "INSERT INTO notes_content VALUES (1, 'hello'), (2, 'world');"

    /// Makes SQLite unable to run the statement of a virtual table again.
    private static func make(_ virtualTable: String, need tokenizer: String, in db: SQLiteConnection) throws {
        try db.query("PRAGMA writable_schema = ON")
        try db.query(
            "UPDATE sqlite_master SET sql = replace(sql, ')', ', tokenize=\(tokenizer))') WHERE name = ?",
            [.text(virtualTable)]
        )
        try db.query("PRAGMA writable_schema = RESET")
    }

    @Test func `a content table that the target lacks is asked about, whatever becomes of the index`() throws
    {
        let db = try database(Self.table + Self.index + Self.rows)
        for tables: Set<String> in [[], ["notes"]] {
            let plan = try SchemaPlan(from: db, to: "CREATE TABLE z(a)", hints: .init(droppedTables: tables))
            let question = plan.questions.first { $0.table == "notes_content" }
            #expect(question?.kind == .droppedTable)
            #expect(question?.rowCount == 2)
            #expect(plan.questions.count == 2 - tables.count)
        }
    }

    @Test func `an index over a table of an earlier release asks nothing, and no hint drops the table`()
        throws
    {
        let db = try database(Self.table + Self.rows)
        #expect(try SchemaPlan(from: db, to: Self.table + Self.index).questions == [])
        let error = try refused(db) {
            try SchemaPlan(
                from: db,
                to: Self.table + Self.index,
                hints: .init(droppedTables: ["notes_content"])
            ).apply(db)
        }
        #expect(error.message.hasPrefix("The hints drop the table notes_content, and the target has it"))
    }

    @Test func `after a VACUUM, shadow tables are still found, and an index over a table that changes`()
        throws
    {
        let own = "CREATE TABLE t(a); CREATE VIRTUAL TABLE g USING fts5(a, content='t');"
        let db = try database(
            Self.table + Self.index + "CREATE VIRTUAL TABLE f USING fts4(content=notes_content);" + own
        )
        // It writes virtual tables after all others.
        try db.query("VACUUM")
        #expect(try db.query("SELECT name FROM sqlite_master LIMIT 1") == [["notes_content"]])
        let plan = try SchemaPlan(
            from: db,
            to: Self.table + Self.index + "CREATE VIRTUAL TABLE f USING fts4(content=notes_content);" + own
        )
        #expect(plan.steps.map(\.description) == [])
        let error = try refused(db) {
            try TableRebuild("t", as: "CREATE TABLE t(a)", values: ["a": "a + 1"]).run(db)
        }
        #expect(error.message.contains("The virtual table g is filled from the column a"), "\(error)")
    }

    @Test func `a temporary index makes no table a shadow table`() throws {
        let db = try database(
            Self.table + Self.rows + "CREATE VIRTUAL TABLE temp.notes USING fts5(body, content='');"
                + "CREATE VIRTUAL TABLE f USING fts5(a)"
        )
        let target = "CREATE TABLE notes_content(id INTEGER PRIMARY KEY, body TEXT, lang TEXT);"
        let plan = try SchemaPlan(from: db, to: target + "CREATE VIRTUAL TABLE f USING fts5(a)")
        #expect(plan.steps.map(\.description) == ["add the column lang to the table notes_content"])
        try plan.apply(db)
    }

    @Test func `an index with which SQLite would drop a table of the app is not dropped`() throws {
        // FTS3 drops a table of this name whether it created it or not.
        let own = "CREATE TABLE f_docsize(a);"
        let db = try database("CREATE VIRTUAL TABLE f USING fts3(a); \(own) INSERT INTO f_docsize VALUES (1)")
        let plan = try SchemaPlan(from: db, to: own, hints: .init(droppedTables: ["f"]))
        let error = try refused(db) { try plan.apply(db) }
        #expect(
            error.description
                == "The table f_docsize would still differ from the target. Nothing was changed."
                + " Change it in a migration instead."
        )
    }

    @Test(arguments: ["fts5(a)", "fts4(a)", "fts5(a, content='f_content')", "fts4(a, content='f_content')"])
    func `next to an index that can't be created in memory, a name decides, and such a table stays`(
        module: String
    ) throws {
        let isOwn = module.contains("content")
        let db = try database(
            (isOwn ? "CREATE TABLE f_content(a); INSERT INTO f_content VALUES ('mine');" : "")
                + "CREATE VIRTUAL TABLE f USING \(module); CREATE TABLE t(a)"
        )
        try Self.make("f", need: "app_tokenizer", in: db)
        let questions = try SchemaPlan(from: db, to: "CREATE TABLE t(a, b)")
        #expect(questions.questions.map(\.table) == ["f"])
        let plan = try SchemaPlan(
            from: db,
            to: "CREATE TABLE t(a, b)",
            hints: .init(droppedTables: ["f", "f_content"])
        )
        #expect(plan.steps.map(\.description) == ["rebuild the table t", "drop the table f"])
        #expect(plan.assumedShadowTables.contains("f_content"))
        for text in [plan.description, questions.description] {
            #expect(
                text.contains(
                    "The table f_content is left alone. By its name it is a shadow table of the virtual table f,"
                        + " whose statement can't be run in memory to find out: "
                ),
                "\(text)"
            )
            #expect(text.contains("app_tokenizer"), "\(text)")
        }
        let rebuild = TableRebuild("f_content", as: "CREATE TABLE f_content(a, b)")
        let error = try refused(db) { try rebuild.run(db) }
        #expect(error.message.contains("By its name it is a shadow table of the virtual table f"), "\(error)")
    }

    @Test func `a plan drops an index that can't be created in memory, and leaves the app's table`() throws {
        let db = try database(Self.table + Self.index + Self.rows + "CREATE TABLE z(a)")
        let plan = try SchemaPlan(from: db, to: "CREATE TABLE z(a)", hints: .init(droppedTables: ["notes"]))
        #expect(plan.questions.map(\.table) == ["notes_content"])
        #expect(plan.assumedShadowTables == [])
        // The connection's own copy of the schema has the index still, so that it can be dropped.
        try db.query("PRAGMA writable_schema = ON")
        try db.query(
            "UPDATE sqlite_master SET sql = replace(sql, ')', ', tokenize=app_tokenizer)') WHERE name = 'notes'"
        )
        try db.query("PRAGMA writable_schema = OFF")
        let blind = try SchemaPlan(from: db, to: "CREATE TABLE z(a)", hints: .init(droppedTables: ["notes"]))
        #expect(blind.assumedShadowTables.sorted().contains("notes_content"))
        try blind.apply(db)
        #expect(try db.query("SELECT count(*) FROM notes_content") == [[2]])
        // Without the index, the table is the app's for sure.
        #expect(try SchemaPlan(from: db, to: "CREATE TABLE z(a)").questions.map(\.table) == ["notes_content"])
    }

    @Test func `a rebuild keeps the rows of a content table, and its index follows`() throws {
        let db = try database(
            Self.table + Self.index + Self.rows + "INSERT INTO notes(notes) VALUES ('rebuild');"
                + "CREATE INDEX by_body ON notes_content(body)"
        )
        try TableRebuild(
            "notes_content",
            as: "CREATE TABLE notes_content(id INTEGER PRIMARY KEY, body TEXT, lang TEXT NOT NULL)",
            values: ["lang": "'en'"]
        ).run(db)
        #expect(try db.query("SELECT rowid FROM notes WHERE notes MATCH 'world'") == [[2]])
        #expect(try db.query("SELECT * FROM notes_content") == [[1, "hello", "en"], [2, "world", "en"]])
        #expect(try db.query("SELECT count(*) FROM sqlite_master WHERE name = 'by_body'") == [[1]])
    }
}
