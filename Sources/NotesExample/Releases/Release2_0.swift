extension Release {
    /// An index of all notes, which takes over the tags.
    static let v2_0 = Release(
        version: "2.0",
        library: [
            Step(
                version: "2.0",
                summary: "an index of all notes",
                points: ["written", "renamed", "removed"],
                run: buildIndex
            )
        ]
    )

    /// As long as `tags.json` is there, the index doesn't count yet, and is built again.
    @Sendable private static func buildIndex(_ context: StepContext) throws {
        let folder = context.folder
        switch try context.library.requiredLayout() {
        case .oneFile, .filePerNote: throw NotesError("\(folder.path) has no tags.json of 1.4.")
        case .tagsApart: break
        case .indexed, .database, .tagsOnce, .colors, .previews: return
        }
        let tags = try TagsFile.read(from: folder)
        let entries = try context.library.noteFiles().map { file in
            let note = tags.apply(to: file.note)
            return NotesIndex.Entry(
                id: note.id,
                created: note.created,
                title: note.title,
                tags: note.tags,
                file: file.path
            )
        }
        let building = NotesLibrary.indexFile + ".new"
        try folder.write(NotesJSON.encode(NotesIndex(notes: entries.sorted { $0.id < $1.id })), to: building)
        try context.reached("written")
        try folder.rename(building, to: NotesLibrary.indexFile)
        try context.reached("renamed")
        try folder.removeIfThere(NotesLibrary.tagsFile)
        try context.reached("removed")
    }
}
