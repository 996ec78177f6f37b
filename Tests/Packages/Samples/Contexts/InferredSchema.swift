import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

@Suite struct InferredSchema {
    let schema = "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT)"
    let migrator: SQLiteMigrator

    init() throws {
        migrator = try SQLiteMigrator(
            SQLiteMigration.numbered([
                "CREATE TABLE note(id INTEGER PRIMARY KEY)", "ALTER TABLE note ADD COLUMN title TEXT",
            ])
        )
    }

    func inferring(_ db: SQLiteConnection) throws -> SchemaPlan {
        // Sample 3 of ChangingATable.md
        return plan
    }

    func printing(_ plan: SchemaPlan, _ print: (SchemaPlan.Question) -> Void) {
        for question in plan.questions { print(question) }
    }

    func preparing(
        _ db: SQLiteConnection,
        _ register: @escaping @Sendable (OpaquePointer) throws -> Void
    ) throws -> SchemaPlan {
        @Sendable nonisolated func registerCollations(on handle: OpaquePointer) throws {
            try register(handle)
        }
        let plan = try SchemaPlan(
            from: db,
            to: schema,
            preparing: { handle in
                // sqlite3_create_collation_v2(handle, "unicase", …)
                try registerCollations(on: handle)
            }
        )
        return plan
    }

    @Test func `the migrations make the schema of the app`() throws {
        #expect(try migrator.schemaDifferences(from: schema) == [])
    }

    func inAMigration(_ schemaOfRelease2_1: String) -> SQLiteMigration {
        let migration = SQLMigration<SQLiteConnection>(
            version: 13,
            name: "schema_2_1"
        ) { db, _ in
            try SchemaPlan(from: db, to: schemaOfRelease2_1).apply(db)
        }
        return migration
    }

    @Test func `the doc comment's line passes too`() throws {
        // Sample 2 of SQLiteComparison.swift
    }

    @Test func `each private connection is prepared`() throws {
        let db = try database("CREATE TABLE note(id INTEGER PRIMARY KEY)")
        #expect(throws: SQLError.self) { try preparing(db) { _ in throw CancellationError() } }
        let plan = try preparing(db) { handle in try SQLiteConnection(borrowing: handle).query("SELECT 1") }
        #expect(plan.steps.map(\.description) == ["add the column title to the table note"])
    }

    @Test func `a schema is inferred`() throws {
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
        #expect(try inferring(db).steps.isEmpty)
        let tables = try db.fetch(String.self, "SELECT group_concat(sql, '; ') FROM sqlite_master")[0]
        try SQLiteMigrator([inAMigration("\(tables); CREATE TABLE more(a)")]).migrate(db)
        #expect(try db.query("SELECT * FROM more") == [])
    }

    @Test func `a question says what answers it, as the article prints it`() throws {
        let db = try database("CREATE TABLE note (id INTEGER PRIMARY KEY, headline TEXT)")
        var printed: [String] = []
        try printing(SchemaPlan(from: db, to: schema)) { printed.append("\($0)") }
        #expect(
            printed == [
                "The target's table note has no column headline. If it was renamed: "
                    + #"renamedColumns: ["note": ["headline": "title"]]. To drop it with its content: "#
                    + #"droppedColumns: ["note": ["headline"]]."#
            ]
        )
    }
}
