import Foundation

/// The tags of all notes in one file, as releases 1.4 to 2.0 keep them.
struct TagsFile {
    var tags: [Int: [String]]

    /// A note's own tag lines win: they are there until its file has been rewritten, and then no longer.
    func apply(to note: Note) -> Note {
        note.tags.isEmpty ? note.tagged(tags[note.id, default: []]) : note
    }

    static func read(from folder: NotesFolder) throws -> TagsFile {
        let path = folder.path(of: NotesLibrary.tagsFile)
        let named: [String: [String]] = try NotesJSON.decode(folder.read(NotesLibrary.tagsFile), path: path)
        var tags: [Int: [String]] = [:]
        for (key, value) in named {
            guard let id = Int(key), tags.updateValue(value, forKey: id) == nil else {
                throw NotesError("\(path) has tags for \(key.debugDescription), which is no note's number.")
            }
        }
        return TagsFile(tags: tags)
    }

    func encoded() throws -> Data {
        try NotesJSON.encode(Dictionary(uniqueKeysWithValues: tags.map { ("\($0.key)", $0.value) }))
    }
}
