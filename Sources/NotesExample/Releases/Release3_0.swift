import AppMigrationsSQLite
import AppMigrationsSchema

extension Release {
    /// What `ALTER TABLE` can't do, as a rebuild, and what needs no thought, inferred from the schema.
    static let v3_0 = Release(
        version: "3.0",
        library: [
            Step(
                "3.0",
                "when a note changed, and colors for tags",
                points: ["changing", "changed"],
                run: changeSchema
            )
        ],
        schema: .colors
    )

    @Sendable private static func changeSchema(_ context: StepContext) throws {
        _ = try context.layout(from: .tagsOnce, else: "has no \(NotesDatabase.file) of 2.2")
        let database = try NotesDatabase(path: context.folder.path(of: NotesDatabase.file))
        try database.migrate(to: .colors) { context.reached("changing") }
        context.reached("changed")
    }
}

extension NotesDatabase {
    /// The third migration of the schema, in Swift instead of a file.
    static let colors = SQLiteMigration(version: 3, name: "colors") { db in
        // A column that is NOT NULL without a default needs its values while the table is rebuilt.
        try TableRebuild("note", as: note, values: ["changed": "created"]).run(db)
        // The rest is a column with no value yet and an index: the plan finds both.
        try SchemaPlan(from: db, to: "\(note); \(tags)").apply(db)
    }

    private static let note = """
        CREATE TABLE note(
            id INTEGER PRIMARY KEY,
            created TEXT NOT NULL,
            changed TEXT NOT NULL CHECK (changed >= created),
            title TEXT NOT NULL,
            text TEXT NOT NULL
        )
        """

    private static let tags = """
        CREATE TABLE tag(
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            color TEXT
        );
        CREATE TABLE note_tag(
            note INTEGER NOT NULL REFERENCES note(id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            tag INTEGER NOT NULL REFERENCES tag(id),
            PRIMARY KEY (note, position)
        ) WITHOUT ROWID;
        CREATE INDEX note_tag_by_tag ON note_tag(tag);
        """
}
