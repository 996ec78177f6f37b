import Foundation

/// The file of one note, since release 1.1: its header, an empty line, and its text as it is to the last byte.
enum NoteFile {
    static func encode(_ note: Note) throws -> Data {
        try Data((NoteHeader.lines(of: note) + ["", note.text]).joined(separator: "\n").utf8)
    }

    static func decode(_ data: Data, path: String) throws -> Note {
        guard let content = String(validating: data, as: UTF8.self) else {
            throw NotesError("\(path) is not UTF-8 text.")
        }
        let bytes = content.utf8
        guard let first = bytes.firstIndex(of: UInt8(ascii: "\n")),
            var header = NoteHeader(firstLine: String(content[..<first]))
        else {
            throw NotesError("\(path) does not begin with `note ID DAY`.")
        }
        var start = bytes.index(after: first)
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(content[start..<end])
            start = bytes.index(after: end)
            if line.isEmpty, !header.title.isEmpty {
                return header.note(text: String(content[start...]))
            }
            guard header.take(line) else {
                throw NotesError("\(path) has a header line that cannot be read: \(line.debugDescription).")
            }
        }
        throw NotesError("\(path) ends within its header: it was cut short.")
    }

    /// The name 1.1 gave a file: the title, without the two bytes that no name may hold.
    ///
    /// It took a leading dot, a line break or a trailing space as it came, which is why 1.1-1 had to follow.
    static func firstName(of note: Note) -> String {
        let title = String(
            String.UnicodeScalarView(note.title.unicodeScalars.map { $0 == "/" || $0 == "\0" ? "_" : $0 })
        )
        return "\(title.cut(toBytes: 200)) #\(note.id).txt"
    }

    /// The name since 1.1-1: the number first, then what every file system takes of the title.
    ///
    /// The number alone makes it unique, also where case or composed accents make no difference.
    static func cleanName(of note: Note) -> String {
        let words = note.title.precomposedStringWithCanonicalMapping.unicodeScalars
            .split { !isHarmless($0) }
            .map { String(String.UnicodeScalarView($0)) }
        let title = words.joined(separator: " ").cut(toBytes: 80).trimmingCharacters(in: .whitespaces)
        let number = String(repeating: "0", count: max(0, 3 - "\(note.id)".count)) + "\(note.id)"
        return title.isEmpty ? "\(number).txt" : "\(number) \(title).txt"
    }

    /// Whether it is a letter with its accents, a number, an emoji or what holds them together.
    ///
    /// All other signs mean something to some file system or shell.
    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        case .decimalNumber, .letterNumber, .otherNumber, .otherSymbol: true
        default: scalar == "'" || scalar == "-" || scalar == "\u{200D}" || scalar.properties.isEmojiModifier
        }
    }
}

extension String {
    /// As many whole Characters from the front as fit, for file names end at 255 bytes.
    func cut(toBytes limit: Int) -> String {
        var room = limit
        return String(
            prefix {
                room -= $0.utf8.count
                return room >= 0
            }
        )
    }
}
