extension Release {
    /// One file per note, and in a later build of the same release, names that every file system takes.
    static let v1_1 = Release(
        version: "1.1",
        library: [
            Step(
                "1.1",
                "one file per note",
                points: ["half-written", "written", "renamed", "removed"],
                run: moveNotesIntoFiles
            ),
            Step(
                "1.1-1",
                "names that every file system takes",
                points: ["half-renamed", "renamed"],
                run: cleanNames
            ),
        ]
    )

    /// Builds the whole folder beside `notes.txt`, names it, and only then removes the file.
    @Sendable private static func moveNotesIntoFiles(_ context: StepContext) throws {
        let folder = context.folder
        guard try context.library.layout() == .oneFile else { return }
        let notes = try context.library.notes()
        let building = NotesLibrary.notesFolder + ".new"
        try folder.removeIfThere(building)
        for year in Set(notes.map(\.year)).sorted() {
            try folder.makeFolder("\(building)/\(year)")
        }
        try context.forEach(notes, of: "notes", halfway: "half-written") { note in
            let name = NoteFile.firstName(of: note)
            try folder.write(NoteFile.encode(note), to: "\(building)/\(note.year)/\(name)")
        }
        for year in try folder.names(in: building) {
            try folder.synchronize("\(building)/\(year)")
        }
        try folder.synchronize(building)
        context.reached("written")
        // Complete, but of an attempt that died before it removed `notes.txt`, which therefore still counts.
        try folder.removeIfThere(NotesLibrary.notesFolder)
        try folder.rename(building, to: NotesLibrary.notesFolder)
        context.reached("renamed")
        try folder.removeIfThere(NotesLibrary.notesFile)
        context.reached("removed")
    }

    /// Renames each file on its own; one that has its clean name already is passed over.
    @Sendable private static func cleanNames(_ context: StepContext) throws {
        let files = try context.library.noteFiles()
        try context.forEach(files, of: "names", halfway: "half-renamed") { file in
            let clean = "\(NotesLibrary.notesFolder)/\(file.note.year)/\(NoteFile.cleanName(of: file.note))"
            if !file.path.hasSameBytes(as: clean) {
                try context.folder.rename(file.path, to: clean)
            }
        }
        context.reached("renamed")
    }
}
