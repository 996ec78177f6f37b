extension Release {
    /// An index of all notes, which takes over the tags.
    static let v2_0 = Release(
        version: "2.0",
        library: [
            Step("2.0", "an index of all notes", points: ["written", "renamed", "removed"], run: buildIndex)
        ]
    )

    /// As long as `tags.json` is there, the index doesn't count yet, and is built again.
    @Sendable private static func buildIndex(_ context: StepContext) throws {
        let folder = context.folder
        let layout = try context.layout(from: .tagsApart, else: "has no tags.json of 1.4")
        guard layout == .tagsApart else { return }
        let tags = try TagsFile.read(from: folder)
        let entries = try context.library.noteFiles().map { file in
            let note = tags.apply(to: file.note)
            return NotesIndex.Entry(note, file: file.path)
        }
        let building = NotesLibrary.indexFile + ".new"
        try folder.write(NotesJSON.encode(NotesIndex(notes: entries.sorted { $0.id < $1.id })), to: building)
        context.reached("written")
        try folder.rename(building, to: NotesLibrary.indexFile)
        context.reached("renamed")
        try folder.removeIfThere(NotesLibrary.tagsFile)
        context.reached("removed")
    }
}
