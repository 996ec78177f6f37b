import Foundation

/// The single file of release 1.0: every note under its header, each line of its text behind a `|`, and a last
/// line `end COUNT`, without which a file that was cut short would pass for a shorter one.
enum SingleNotesFile {
    static func encode(_ notes: [Note]) throws -> Data {
        var lines: [String] = []
        for note in notes {
            lines += try NoteHeader.lines(of: note)
            lines += note.text.lines.map { "|" + $0 }
        }
        lines.append("end \(notes.count)\n")
        return Data(lines.joined(separator: "\n").utf8)
    }

    static func decode(_ data: Data, path: String) throws -> [Note] {
        guard let content = String(validating: data, as: UTF8.self) else {
            throw NotesError("\(path) is not UTF-8 text.")
        }
        var notes: [Note] = []
        var header: NoteHeader?
        var text: [String] = []
        var known: Set<Int> = []

        func finishNote(before line: Int) throws {
            guard let finished = header else { return }
            guard !finished.title.isEmpty, !text.isEmpty else {
                throw NotesError("\(path), line \(line): note \(finished.id) has no title or no text line.")
            }
            guard known.insert(finished.id).inserted else {
                throw NotesError("\(path), line \(line): a second note \(finished.id).")
            }
            notes.append(finished.note(text: text.joined(separator: "\n")))
            text = []
        }

        let lines = content.lines
        for (index, line) in lines.enumerated() {
            if line.utf8.first == UInt8(ascii: "|"), header?.title.isEmpty == false {
                text.append(line.withoutFirstByte)
            } else if let next = NoteHeader(firstLine: line) {
                try finishNote(before: index + 1)
                header = next
            } else if line.hasPrefix("end ") {
                try finishNote(before: index + 1)
                guard line == "end \(notes.count)", Array(lines.dropFirst(index + 1)) == [""] else {
                    throw NotesError(
                        "\(path), line \(index + 1): \(line.debugDescription) after \(notes.count) notes."
                    )
                }
                return notes
            } else if !text.isEmpty || header?.take(line) != true {
                throw NotesError("\(path), line \(index + 1) cannot be read: \(line.debugDescription).")
            }
        }
        throw NotesError("\(path) ends without its last line, `end COUNT`: it was cut short.")
    }
}
