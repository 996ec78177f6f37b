/// Reads the notes of a folder, whichever release has written them, and changes nothing.
///
/// If a step died, the folder has the notes in the old and in the new form. Each step removes the old form
/// last, so the old form is complete as long as it exists, and it is the one that is read.
struct NotesLibrary {
    /// The form in which the notes are kept, with the release that introduced it.
    enum Layout: String, Comparable {
        case oneFile = "1.0"
        case filePerNote = "1.1"
        case database = "2.0"
        case tagsOnce = "2.1"
        case colors = "3.0"
        case previews = "3.1"

        static func < (one: Layout, other: Layout) -> Bool { one.rawValue < other.rawValue }
    }

    static let notesFile = "notes.json"
    static let notesFolder = "Notes"
    static let previewsFolder = "Previews"

    let folder: NotesFolder
    /// True if the database is opened read-only.
    ///
    /// A connection that can write rolls back a dead process's journal.
    var isLooking = false

    /// The form in which the notes are kept here.
    ///
    /// No notes is an error: the release before has left some.
    func layout() throws -> Layout {
        if try folder.exists(Self.notesFile) { return .oneFile }
        if try folder.exists(Self.notesFolder) { return .filePerNote }
        guard try folder.exists(NotesDatabase.file) else {
            throw NotesError(
                "There are no notes in \(folder.path): no \(Self.notesFile), no folder Notes and no \(NotesDatabase.file)."
            )
        }
        switch try database().schema() {
        case .first: return .database
        case .tagsOnce: return .tagsOnce
        case .colors: return try folder.exists(Self.previewsFolder) ? .previews : .colors
        }
    }

    /// All notes, in the order of their numbers.
    func notes() throws -> [Note] {
        let notes: [Note] =
            switch try layout() {
            case .oneFile: try folder.readJSON(Self.notesFile)
            case .filePerNote: try noteFiles().map(\.note)
            case .database, .tagsOnce, .colors, .previews: try database().notes()
            }
        return notes.sorted { $0.id < $1.id }
    }

    func database() throws -> NotesDatabase {
        try NotesDatabase(path: folder.path(of: NotesDatabase.file), readOnly: isLooking)
    }

    /// Each note that is in a file of its own, with the file's path inside the folder.
    func noteFiles() throws -> [(path: String, note: Note)] {
        var files: [(path: String, note: Note)] = []
        var known: [Int: String] = [:]
        // A file with another ending is not a note. File managers leave such files.
        for name in try folder.names(in: Self.notesFolder) where name.hasSuffix(".json") {
            let path = "\(Self.notesFolder)/\(name)"
            let note: Note = try folder.readJSON(path)
            if let other = known.updateValue(path, forKey: note.id) {
                throw NotesError("Note \(note.id) is in two files, \(other) and \(path), of \(folder.path).")
            }
            files.append((path, note))
        }
        return files
    }
}
