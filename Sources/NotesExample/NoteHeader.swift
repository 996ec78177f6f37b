/// What stands above a note's text, in every release: `note ID DAY`, the title in lines that begin with `=`, and
/// up to 1.2.5 the tags, each in a line that begins with `#`.
struct NoteHeader {
    let id: Int
    let created: String
    private(set) var title: [String] = []
    private(set) var tags: [String] = []

    /// Reads the first line, `note 17 2019-03-02`, or returns nil when the line is something else.
    init?(firstLine line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == "note", let id = Int(words[1]), id > 0, words[1] == "\(id)" else {
            return nil
        }
        let day = words[2].split(separator: "-", omittingEmptySubsequences: false)
        guard day.map(\.utf8.count) == [4, 2, 2], day.joined().utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
            return nil
        }
        self.id = id
        created = String(words[2])
    }

    /// Takes a title or tag line, or returns false when the line is neither or comes too late.
    mutating func take(_ line: String) -> Bool {
        switch line.utf8.first {
        case UInt8(ascii: "=") where tags.isEmpty: title.append(line.withoutFirstByte)
        case UInt8(ascii: "#") where !title.isEmpty: tags.append(line.withoutFirstByte)
        default: return false
        }
        return true
    }

    func note(text: String) -> Note {
        Note(id: id, created: created, title: title.joined(separator: "\n"), tags: tags, text: text)
    }

    /// The lines of a note's header; a title may have several, a tag only one.
    static func lines(of note: Note) throws -> [String] {
        for tag in note.tags where tag.utf8.contains(UInt8(ascii: "\n")) {
            throw NotesError("Note \(note.id) has a tag with a line break in it: \(tag.debugDescription).")
        }
        let title = note.title.lines.map { "=" + $0 }
        return ["note \(note.id) \(note.created)"] + title + note.tags.map { "#" + $0 }
    }
}

extension String {
    /// The parts between line feeds.
    ///
    /// On bytes: as Characters, "\r\n" is one and would not be split.
    var lines: [String] {
        utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }

    /// Drops the mark in front of a line.
    ///
    /// A mark and a combining accent after it are one Character, so that
    /// `dropFirst()` would take the accent along.
    var withoutFirstByte: String {
        String(Substring(utf8.dropFirst()))
    }
}
