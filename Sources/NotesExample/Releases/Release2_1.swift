extension Release {
    /// The library in a database, instead of a file for each note and an index.
    static let v2_1 = Release(
        version: "2.1",
        library: [
            Step(
                "2.1",
                "the library in a database",
                points: ["half-copied", "written", "renamed", "in-force", "removed"],
                run: moveIntoDatabase
            )
        ],
        schema: .first
    )

    /// As long as `index.json` is there, the database doesn't count yet, and is built again.
    @Sendable private static func moveIntoDatabase(_ context: StepContext) throws {
        let folder = context.folder
        let layout = try context.layout(from: .indexed, else: "has no index.json of 2.0")
        if layout == .indexed { try buildDatabase(context) }
        try folder.removeIfThere(NotesLibrary.notesFolder)
        context.reached("removed")
    }

    private static func buildDatabase(_ context: StepContext) throws {
        let folder = context.folder
        let notes = try context.library.notes()
        let building = NotesDatabase.file + ".new"
        // The journal of an attempt that died would be rolled back into the new file.
        for name in [building, building + "-journal"] { try folder.removeIfThere(name) }
        let database = try NotesDatabase(path: folder.path(of: building))
        try database.migrate(to: .first)
        try database.add(notes) { try context.forEach($0, of: "notes", halfway: "half-copied", do: $1) }
        guard try database.notes() == notes else {
            throw NotesError("The notes in \(folder.path(of: building)) are not those of \(folder.path).")
        }
        database.close()
        try folder.synchronize(building)
        context.reached("written")
        try folder.rename(building, to: NotesDatabase.file)
        context.reached("renamed")
        try folder.removeIfThere(NotesLibrary.indexFile)
        context.reached("in-force")
    }
}
