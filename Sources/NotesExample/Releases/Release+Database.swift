/// The releases that keep the notes in a database.
extension Release {
    /// Moves the notes from their files into a database.
    static let v2_0 = Release(
        version: "2.0",
        library: [Step(version: "2.0", summary: "the library in a database", run: moveIntoDatabase)],
        schema: .first
    )

    /// Changes the schema by an SQL file.
    ///
    /// The file runs in one transaction with its record in the database.
    static let v2_1 = Release(
        version: "2.1",
        library: [Step(version: "2.1", summary: "each tag once", run: shareTags)],
        schema: .tagsOnce
    )

    /// Builds the database, and then removes the folder of notes.
    ///
    /// If an earlier attempt crashed before it renamed the folder, the database is built again.
    @Sendable private static func moveIntoDatabase(_ context: StepContext) throws {
        let folder = context.folder
        let removing = NotesLibrary.notesFolder + ".old"
        if try context.layout(from: .filePerNote) == .filePerNote {
            try buildDatabase(context)
            // The folder is renamed first, because its files are removed one by one. After a crash, a folder
            // with half of the files would look like a complete one.
            try folder.rename(NotesLibrary.notesFolder, to: removing)
        }
        try folder.removeIfThere(removing)
    }

    private static func buildDatabase(_ context: StepContext) throws {
        let folder = context.folder
        let notes = try context.library.notes()
        let building = NotesDatabase.file + ".new"
        // SQLite would roll back the journal of an attempt that died into the new file.
        for name in [building, building + "-journal"] { try folder.removeIfThere(name) }
        let database = try NotesDatabase(path: folder.path(of: building))
        try database.migrate(to: .first)
        try database.transaction { try context.forEach(notes, of: "notes", do: database.add) }
        guard try database.notes() == notes else {
            throw NotesError("The notes in \(folder.path(of: building)) are not those of \(folder.path).")
        }
        database.close()
        try folder.synchronize(building)
        try folder.rename(building, to: NotesDatabase.file)
    }

    @Sendable private static func shareTags(_ context: StepContext) throws {
        _ = try context.layout(from: .database)
        try context.library.database().migrate(to: .tagsOnce)
    }
}
