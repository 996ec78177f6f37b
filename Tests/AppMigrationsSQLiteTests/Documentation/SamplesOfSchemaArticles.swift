import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

// The samples of "Changing a table" and "Letting the schema be inferred", as they stand there.

func addingALastName() -> SQLMigration<SQLiteConnection> {
    let addLastName = SQLMigration<SQLiteConnection>(
        version: 12,
        name: "last_name"
    ) { db in
        try TableRebuild(
            "t_AppUser",
            as: """
                CREATE TABLE t_AppUser (
                    u_id INTEGER PRIMARY KEY AUTOINCREMENT,
                    u_name TEXT NOT NULL,
                    u_last_name TEXT NOT NULL,
                    u_mail TEXT UNIQUE COLLATE NOCASE
                )
                """,
            values: [
                "u_last_name": """
                coalesce(substr(u_name,
                    nullif(instr(u_name, ' '), 0) + 1), '')
                """
            ]
        ).run(db)
    }
    return addLastName
}

func droppingColors(_ db: SQLiteConnection) throws {
    try TableRebuild(
        "note",
        as: """
            CREATE TABLE note (
                id INTEGER PRIMARY KEY,
                title TEXT NOT NULL CHECK (title <> ''),
                body TEXT
            )
            """,
        values: [
            "title": "coalesce(nullif(title, ''), 'Untitled')",
            "body": "header || body",
        ],
        dropping: ["color", "note_by_color"]
    ).run(db)
}

func numberingItems(_ db: SQLiteConnection) throws {
    try TableRebuild(
        "item",
        as: """
            CREATE TABLE item (
                id INTEGER PRIMARY KEY, name TEXT,
                position INTEGER NOT NULL
            )
            """,
        values: [
            "position":
                "(SELECT count(*) FROM item AS o WHERE o.id < item.id)"
        ]
    ).run(db)
}

func inferring(_ db: SQLiteConnection) throws -> SchemaPlan {
    let plan = try SchemaPlan(
        from: db,
        to: """
            CREATE TABLE folder (
                id INTEGER PRIMARY KEY, name TEXT NOT NULL
            );
            CREATE TABLE note (
                id INTEGER PRIMARY KEY,
                folder INTEGER REFERENCES folder ON DELETE SET NULL,
                title TEXT NOT NULL,
                created REAL
            );
            CREATE INDEX note_by_folder ON note (folder, created DESC);
            """,
        hints: SchemaPlan.Hints(
            renamedTables: ["entry": "note"],
            renamedColumns: ["note": ["headline": "title"]],
            droppedColumns: ["note": ["color"]]
        )
    )
    try plan.apply(db)
    return plan
}

func printing(_ plan: SchemaPlan, _ print: (SchemaPlan.Question) -> Void) {
    for question in plan.questions { print(question) }
}

func inferringInAMigration(_ schemaOfRelease2_1: String) -> SQLMigration<SQLiteConnection> {
    let migration = SQLMigration<SQLiteConnection>(
        version: 13,
        name: "schema_2_1"
    ) { db in
        try SchemaPlan(from: db, to: schemaOfRelease2_1).apply(db)
    }
    return migration
}

@Suite struct AppSchemaTests {
    private let schema = "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT)"
    private let migrator: SQLiteMigrator

    init() throws {
        migrator = try SQLiteMigrator(
            SQLiteMigration.numbered([
                "CREATE TABLE note(id INTEGER PRIMARY KEY)", "ALTER TABLE note ADD COLUMN title TEXT",
            ])
        )
    }

    @Test func `the migrations make the schema of the app`() throws {
        #expect(try migrator.schemaDifferences(from: schema) == [])
    }
}
