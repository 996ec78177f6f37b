/// The releases that moved the notes into a database.
extension Release {
    /// The library in a database, instead of a file for each note.
    static let v2_0 = Release(
        version: "2.0",
        library: [Step(version: "2.0", summary: "the library in a database", run: moveIntoDatabase)],
        schema: .first
    )

    /// Another schema for the same notes: SQL in a file, run and written to the database's ledger in one
    /// transaction.
    static let v2_1 = Release(
        version: "2.1",
        library: [Step(version: "2.1", summary: "each tag once", run: shareTags)],
        schema: .tagsOnce
    )

    /// As long as the folder has its name, the database doesn't count yet, and is built again.
    @Sendable private static func moveIntoDatabase(_ context: StepContext) throws {
        let folder = context.folder
        let removing = NotesLibrary.notesFolder + ".old"
        if try context.layout(from: .filePerNote) == .filePerNote {
            try buildDatabase(context)
            // Files are removed one by one, and half of them would pass for all: the folder loses its name at
            // once.
            try folder.rename(NotesLibrary.notesFolder, to: removing)
        }
        try folder.removeIfThere(removing)
    }

    private static func buildDatabase(_ context: StepContext) throws {
        let folder = context.folder
        let notes = try context.library.notes()
        let building = NotesDatabase.file + ".new"
        // The journal of an attempt that died would be rolled back into the new file.
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
