/// The releases that keep the notes in files.
extension Release {
    /// The first release.
    ///
    /// All notes are in one file, and the preferences are lines of `key=value`.
    static let v1_0 = Release(version: "1.0")

    /// Writes a file for each note.
    ///
    /// A later build of the same release gives the files names that are valid on every file system.
    static let v1_1 = Release(
        version: "1.1",
        library: [
            Step(version: "1.1", summary: "one file per note", run: moveNotesIntoFiles),
            Step(version: "1.1-1", summary: "names that every file system takes", run: cleanNames),
        ]
    )

    /// Writes the preferences as JSON, in which a value can have several lines.
    static let v1_2_5 = Release(
        version: "1.2.5",
        preferences: [Step(version: "1.2.5", summary: "preferences as JSON", run: movePreferencesToJSON)]
    )

    /// Builds the folder under a temporary name, renames it, and then removes the old file.
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
        // An earlier attempt died before it removed the old file. The app reads that file as long as it
        // exists, so the folder is built again.
        try folder.removeIfThere(NotesLibrary.notesFolder)
        try folder.rename(building, to: NotesLibrary.notesFolder)
        try folder.removeIfThere(NotesLibrary.notesFile)
    }

    /// The name that 1.1 gave to a file: the title without the two characters that a file name can't have.
    ///
    /// A leading dot, a line break or a trailing space stayed in the name, so 1.1-1 had to follow.
    private static func firstName(of note: Note) -> String {
        let scalars = note.title.unicodeScalars.map { $0 == "/" || $0 == "\0" ? "_" : $0 }
        return "\(String(String.UnicodeScalarView(scalars)).cut(toBytes: 200)) #\(note.id).json"
    }

    /// Renames each file to its note's number, unless an earlier attempt has done so.
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
