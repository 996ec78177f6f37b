import Foundation

/// The index of release 2.0: all that a list of notes shows, so that no note's file is opened for it.
struct NotesIndex: Codable {
    struct Entry: Codable {
        let id: Int
        let created: String
        let title: String
        let tags: [String]
        let file: String
    }

    var notes: [Entry]

    static func read(from folder: NotesFolder) throws -> NotesIndex {
        try NotesJSON.decode(
            folder.read(NotesLibrary.indexFile),
            path: folder.path(of: NotesLibrary.indexFile)
        )
    }

    /// The notes as the index has them, with the texts of their files; one without the other is an error.
    func notes(from files: [(path: String, note: Note)]) throws -> [Note] {
        var texts: [Int: String] = [:]
        for file in files { texts[file.note.id] = file.note.text }
        let indexed = try notes.map { entry in
            guard let text = texts.removeValue(forKey: entry.id) else {
                throw NotesError("The index has note \(entry.id), but its file \(entry.file) is not there.")
            }
            return Note(
                id: entry.id,
                created: entry.created,
                title: entry.title,
                tags: entry.tags,
                text: text
            )
        }
        if let id = texts.keys.min() {
            throw NotesError("Note \(id) has a file but is not in the index.")
        }
        return indexed
    }
}
