extension Release {
    /// Tags leave the notes' files for one of their own, so that a list of tags reads a single file.
    static let v1_4 = Release(
        version: "1.4",
        library: [
            Step(
                "1.4",
                "tags in a file of their own",
                points: ["written", "renamed", "half-stripped", "stripped"],
                run: splitTags
            )
        ]
    )

    /// Saves the tags of all notes first, then takes them out of the notes one by one.
    ///
    /// Where it died, some notes have their tags still and the others only in `tags.json`: reading both, as
    /// `NotesLibrary` does, gives every note its tags again, whatever was done already.
    @Sendable private static func splitTags(_ context: StepContext) throws {
        let folder = context.folder
        let layout = try context.layout(from: .filePerNote, else: "still has the notes.txt of 1.0")
        guard layout <= .tagsApart else { return }
        let tagged = try context.library.notes().filter { !$0.tags.isEmpty }
        let tags = TagsFile(tags: Dictionary(uniqueKeysWithValues: tagged.map { ($0.id, $0.tags) }))
        let building = NotesLibrary.tagsFile + ".new"
        try folder.write(tags.encoded(), to: building)
        context.reached("written")
        try folder.rename(building, to: NotesLibrary.tagsFile)
        context.reached("renamed")
        let files = try context.library.noteFiles().filter { !$0.note.tags.isEmpty }
        try context.forEach(files, of: "notes", halfway: "half-stripped") { file in
            try folder.replace(file.path, with: NoteFile.encode(file.note.tagged([])))
        }
        context.reached("stripped")
    }
}
