import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation

/// The releases with a change that an SQL file can't make, and with long work.
extension Release {
    /// Makes a change that `ALTER TABLE` can't make, and one that is found from the schema.
    static let v3_0 = Release(
        version: "3.0",
        library: [
            Step(version: "3.0", summary: "when a note changed, and colors for tags", run: changeSchema)
        ],
        schema: .colors
    )

    /// Writes a preview of each note.
    ///
    /// After a crash, the next attempt continues at the last checkpoint.
    static let v3_1 = Release(
        version: "3.1",
        library: [Step(version: "3.1", summary: "a preview of each note", run: makePreviews)]
    )

    @Sendable private static func changeSchema(_ context: StepContext) throws {
        _ = try context.layout(from: .tagsOnce)
        try context.library.database().migrate(to: .colors)
    }

    /// Writes the previews, and saves a checkpoint after each ten notes.
    ///
    /// After a crash, the previews behind the last checkpoint are written again, with the same text.
    @Sendable private static func makePreviews(_ context: StepContext) throws {
        let folder = context.folder
        if try context.library.layout() == .previews { return }
        let notes = try context.library.notes()
        let building = NotesLibrary.previewsFolder + ".new"
        let last = try folder.exists(building) ? context.checkpoint() ?? .min : .min
        try folder.makeFolder(building)
        try folder.synchronize("")
        for (index, note) in notes.enumerated() where note.id > last {
            let preview = note.text.lines.first { !$0.isEmpty } ?? ""
            try folder.write(Data(preview.cut(toBytes: 80).utf8), to: "\(building)/\(note.id).txt")
            let done = index + 1
            guard done % 10 == 0 || done == notes.count else { continue }
            try folder.synchronize(building)
            try context.saveCheckpoint(note.id, Double(done) / Double(notes.count))
        }
        try folder.rename(building, to: NotesLibrary.previewsFolder)
    }
}

extension NotesDatabase {
    /// The third migration of the schema.
    ///
    /// It is in Swift, and not in a file.
    static let colors = SQLiteMigration(version: 3, name: "colors") { db, _ in
        // The new column is NOT NULL and has no default, so it gets its values while the table is rebuilt.
        try TableRebuild("note", as: note, values: ["changed": "created"]).run(db)
        // The plan finds the rest: a column without values, and an index.
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
        CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, color TEXT);
        CREATE TABLE note_tag(
            note INTEGER NOT NULL REFERENCES note(id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            tag INTEGER NOT NULL REFERENCES tag(id),
            PRIMARY KEY (note, position)
        ) WITHOUT ROWID;
        CREATE INDEX note_tag_by_tag ON note_tag(tag);
        """
}
