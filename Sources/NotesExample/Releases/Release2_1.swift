extension Release {
    /// The library in a database, instead of a file for each note and an index.
    static let v2_1 = Release(
        version: "2.1",
        library: [
            Step(
                version: "2.1",
                summary: "the library in a database",
                points: ["half-copied", "written", "renamed", "in-force", "removed"],
                run: moveIntoDatabase
            )
        ]
    )

    /// As long as `index.json` is there, the database doesn't count yet, and is built again.
    @Sendable private static func moveIntoDatabase(_ context: StepContext) throws {
        let folder = context.folder
        switch try context.library.requiredLayout() {
        case .oneFile, .filePerNote, .tagsApart: throw NotesError("\(folder.path) has no index.json of 2.0.")
        case .indexed: try buildDatabase(context)
        case .database, .tagsOnce, .colors, .previews: break
        }
        try folder.removeIfThere(NotesLibrary.notesFolder)
        try context.reached("removed")
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
        try context.reached("written")
        try folder.rename(building, to: NotesDatabase.file)
        try context.reached("renamed")
        try folder.removeIfThere(NotesLibrary.indexFile)
        try context.reached("in-force")
    }
}
