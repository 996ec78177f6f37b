import Foundation

/// Reads the notes of whatever release a folder is at, without changing it.
///
/// A folder in which a step died holds the old and the new side by side. What is older counts then, since each
/// step removes it last: as long as it is there, it is complete.
struct NotesLibrary {
    /// How the notes are kept, named after the release that began it.
    enum Layout: String, Comparable {
        case oneFile = "1.0"
        case filePerNote = "1.1"
        case tagsApart = "1.4"
        case indexed = "2.0"
        case database = "2.1"
        case tagsOnce = "2.2"
        case colors = "3.0"
        case previews = "3.1"

        static func < (one: Layout, other: Layout) -> Bool { one.rawValue < other.rawValue }
    }

    let folder: NotesFolder
    /// Whether the database is opened for reading only: a connection that may write puts a dead process's journal back.
    var isLooking = false

    /// Whether there are any notes, in whatever layout.
    func isThere() throws -> Bool {
        for name in [Self.notesFile, Self.notesFolder, NotesDatabase.file] where try folder.exists(name) {
            return true
        }
        return false
    }

    /// How the notes are kept here; that there are none is an error, since the release before has left some.
    func layout() throws -> Layout {
        if try folder.exists(Self.notesFile) { return .oneFile }
        let hasFolder = try folder.exists(Self.notesFolder)
        if hasFolder {
            if try folder.exists(Self.tagsFile) { return .tagsApart }
            if try folder.exists(Self.indexFile) { return .indexed }
        }
        guard try folder.exists(NotesDatabase.file) else {
            if hasFolder { return .filePerNote }
            throw NotesError(
                "There are no notes in \(folder.path): no notes.txt, no folder Notes and no \(NotesDatabase.file)."
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
        let notes: [Note]
        switch try layout() {
        case .oneFile:
            let path = folder.path(of: Self.notesFile)
            notes = try SingleNotesFile.decode(folder.read(Self.notesFile), path: path)
        case .filePerNote:
            notes = try noteFiles().map(\.note)
        case .tagsApart:
            let tags = try TagsFile.read(from: folder)
            notes = try noteFiles().map { tags.apply(to: $0.note) }
        case .indexed:
            notes = try NotesIndex.read(from: folder).notes(from: noteFiles())
        case .database, .tagsOnce, .colors, .previews:
            notes = try database().notes()
        }
        return notes.sorted { $0.id < $1.id }
    }

    private func database() throws -> NotesDatabase {
        try NotesDatabase(path: folder.path(of: NotesDatabase.file), readOnly: isLooking)
    }

    /// Every file of a note with what it says, under the path inside the folder.
    func noteFiles() throws -> [(path: String, note: Note)] {
        var files: [(path: String, note: Note)] = []
        var known: [Int: String] = [:]
        for year in try folder.names(in: Self.notesFolder) where !year.hasPrefix(".") {
            let subfolder = "\(Self.notesFolder)/\(year)"
            // What ends otherwise is a file that a dead step was writing, or the file manager's own.
            for name in try folder.names(in: subfolder) where name.hasSuffix(".txt") {
                let path = "\(subfolder)/\(name)"
                let note = try NoteFile.decode(folder.read(path), path: folder.path(of: path))
                if let other = known.updateValue(path, forKey: note.id) {
                    throw NotesError(
                        "Note \(note.id) is in two files, \(other) and \(path), of \(folder.path)."
                    )
                }
                files.append((path, note))
            }
        }
        return files
    }

    static let notesFile = "notes.txt"
    static let notesFolder = "Notes"
    static let tagsFile = "tags.json"
    static let previewsFolder = "Previews"
    static let indexFile = "index.json"
}
