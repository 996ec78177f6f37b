/// The releases that keep notes in files.
extension Release {
    /// The first release: all notes in one file, preferences as `key=value`, and nothing to migrate.
    static let v1_0 = Release(version: "1.0")

    /// One file per note, and in a later build of the same release, names that every file system takes.
    static let v1_1 = Release(
        version: "1.1",
        library: [
            Step(version: "1.1", summary: "one file per note", run: moveNotesIntoFiles),
            Step(version: "1.1-1", summary: "names that every file system takes", run: cleanNames),
        ]
    )

    /// Preferences as JSON: a value may have several lines now.
    static let v1_2_5 = Release(
        version: "1.2.5",
        preferences: [Step(version: "1.2.5", summary: "preferences as JSON", run: movePreferencesToJSON)]
    )

    /// Builds the whole folder beside the file, names it, and only then removes the file.
    @Sendable private static func moveNotesIntoFiles(_ context: StepContext) throws {
        let folder = context.folder
        guard try context.library.layout() == .oneFile else { return }
        let notes = try context.library.notes()
        let building = NotesLibrary.notesFolder + ".new"
        try folder.removeIfThere(building)
        try folder.makeFolder(building)
        try context.forEach(notes, of: "notes") { note in
            try folder.writeJSON(note, to: "\(building)/\(firstName(of: note))")
        }
        try folder.synchronize(building)
        // Complete, but of an attempt that died before it removed the file, which therefore still counts.
        try folder.removeIfThere(NotesLibrary.notesFolder)
        try folder.rename(building, to: NotesLibrary.notesFolder)
        try folder.removeIfThere(NotesLibrary.notesFile)
    }

    /// The name that 1.1 gave a file: the title, without the two signs that no name may hold.
    ///
    /// It took a leading dot, a line break or a trailing space as it came, which is why 1.1-1 had to follow.
    private static func firstName(of note: Note) -> String {
        let scalars = note.title.unicodeScalars.map { $0 == "/" || $0 == "\0" ? "_" : $0 }
        return "\(String(String.UnicodeScalarView(scalars)).cut(toBytes: 200)) #\(note.id).json"
    }

    /// Renames each file on its own; one that has its number as its name already is passed over.
    @Sendable private static func cleanNames(_ context: StepContext) throws {
        try context.forEach(context.library.noteFiles(), of: "names") { file in
            let clean = "\(NotesLibrary.notesFolder)/\(file.note.id).json"
            if file.path != clean { try context.folder.rename(file.path, to: clean) }
        }
    }

    @Sendable private static func movePreferencesToJSON(_ context: StepContext) throws {
        let folder = context.folder
        let preferences = NotesPreferences(folder: folder)
        guard try preferences.layout() == "1.0" else { return }
        let building = NotesPreferences.jsonFile + ".new"
        try folder.writeJSON(preferences.values(), to: building)
        try folder.rename(building, to: NotesPreferences.jsonFile)
        try folder.removeIfThere(NotesPreferences.textFile)
    }
}
