extension Release {
    /// Tags leave the notes' files for one of their own, so that a list of tags reads a single file.
    static let v1_4 = Release(
        version: "1.4",
        library: [
            Step(
                version: "1.4",
                summary: "tags in a file of their own",
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
        switch try context.library.requiredLayout() {
        case .oneFile: throw NotesError("\(folder.path) still has the notes.txt of 1.0.")
        case .filePerNote, .tagsApart: break
        case .indexed, .database, .tagsOnce, .colors, .previews: return
        }
        let tagged = try context.library.notes().filter { !$0.tags.isEmpty }
        let tags = TagsFile(tags: Dictionary(uniqueKeysWithValues: tagged.map { ($0.id, $0.tags) }))
        let building = NotesLibrary.tagsFile + ".new"
        try folder.write(tags.encoded(), to: building)
        try context.reached("written")
        try folder.rename(building, to: NotesLibrary.tagsFile)
        try context.reached("renamed")
        let files = try context.library.noteFiles().filter { !$0.note.tags.isEmpty }
        try context.forEach(files, of: "notes", halfway: "half-stripped") { file in
            try folder.replace(file.path, with: NoteFile.encode(file.note.tagged([])))
        }
        try context.reached("stripped")
    }
}
