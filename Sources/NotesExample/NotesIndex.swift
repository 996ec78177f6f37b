import Foundation

/// The index of release 2.0: all that a list of notes shows, so that no note's file is opened for it.
struct NotesIndex: Codable {
    struct Entry: Codable {
        let id: Int
        let created: String
        let title: String
        let tags: [String]
        let file: String

        init(_ note: Note, file: String) {
            (id, created, title, tags) = (note.id, note.created, note.title, note.tags)
            self.file = file
        }
    }

    var notes: [Entry]

    static func read(from folder: NotesFolder) throws -> NotesIndex {
        let path = folder.path(of: NotesLibrary.indexFile)
        return try NotesJSON.decode(folder.read(NotesLibrary.indexFile), path: path)
    }

    /// The notes as the index has them, with the texts of their files; one without the other is an error.
    func notes(from files: [(path: String, note: Note)]) throws -> [Note] {
        var texts: [Int: String] = [:]
        for file in files { texts[file.note.id] = file.note.text }
        let indexed = try notes.map { row in
            guard let text = texts.removeValue(forKey: row.id) else {
                throw NotesError("The index has note \(row.id), but its file \(row.file) is not there.")
            }
            return Note(id: row.id, created: row.created, title: row.title, tags: row.tags, text: text)
        }
        if let id = texts.keys.min() {
            throw NotesError("Note \(id) has a file but is not in the index.")
        }
        return indexed
    }
}
