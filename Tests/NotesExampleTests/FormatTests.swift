import Foundation
import Testing

@testable import NotesExample

@Suite(.temporaryDirectory) struct FormatTests {
    let folder = NotesFolder.current

    @Test func `the file of 1.0 is written byte for byte as it was read`() throws {
        let data = try Data(contentsOf: SampleData.resource("notes.txt"))
        #expect(try SingleNotesFile.encode(SingleNotesFile.decode(data, path: "notes.txt")) == data)
    }

    @Test func `any text survives every format`() throws {
        let notes = randomNotes(count: 2_000)
        #expect(try SingleNotesFile.decode(SingleNotesFile.encode(notes), path: "notes.txt") == notes)
        for note in notes {
            #expect(try NoteFile.decode(NoteFile.encode(note), path: "note.txt") == note)
        }
        let entries = notes.map {
            NotesIndex.Entry($0, file: "\($0.id)")
        }
        let index: NotesIndex = try NotesJSON.decode(
            NotesJSON.encode(NotesIndex(notes: entries)),
            path: "index.json"
        )
        #expect(try index.notes(from: notes.map { ("\($0.id)", $0) }) == notes)
    }

    @Test func `any text survives both schemas of the database`() async throws {
        try folder.makeFolder("")
        let notes = randomNotes(count: 2_000)
        let database = try NotesDatabase(path: folder.path(of: "notes.sqlite"))
        try database.migrate(to: .first)
        try database.add(notes) { try $0.forEach($1) }
        #expect(try database.notes() == notes)
        try database.migrate(to: .tagsOnce)
        #expect(try database.notes() == notes)
    }

    @Test func `notes with differently composed accents are not equal`() {
        let composed = Note(id: 1, created: "2017-06-10", title: "é", tags: [], text: "")
        let decomposed = Note(id: 1, created: "2017-06-10", title: "e\u{301}", tags: [], text: "")
        #expect(composed != decomposed)
    }

    @Test func `a tag with a line break cannot be written`() {
        let note = Note(id: 3, created: "2017-06-10", title: "", tags: ["a\nb"], text: "")
        let error = #expect(throws: NotesError.self) { try NoteFile.encode(note) }
        #expect(error?.description == #"Note 3 has a tag with a line break in it: "a\nb"."#)
    }

    @Test(
        arguments: [
            ("", #"line 1 cannot be read: ""."#),
            ("note 1 2016-01-03\n=a\n|b", "ends without its last line, `end COUNT`: it was cut short."),
            ("note 1 2016-01-03\n=a\n|b\nend 2\n", #"line 4: "end 2" after 1 notes."#),
            ("note 1 2016-01-03\n=a\n|b\nend 1\nmore\n", #"line 4: "end 1" after 1 notes."#),
            ("note 1 2016-01-03\n=a\n|b\nend 1", #"line 4: "end 1" after 1 notes."#),
            ("note 1 2016-01-03\n=a\nend 1\n", "line 3: note 1 has no title or no text line."),
            ("note 1 2016-01-03\n|b\nend 1\n", #"line 2 cannot be read: "|b"."#),
            ("note 1 2016-01-03\n=a\n|b\n=c\nend 1\n", #"line 4 cannot be read: "=c"."#),
            ("note 1 2016-01-03\n=a\n#t\n=b\n|b\nend 1\n", #"line 4 cannot be read: "=b"."#),
            ("note 1 2016-01-03\n=a\n|b\nb\nend 1\n", #"line 4 cannot be read: "b"."#),
            ("note 01 2016-01-03\n", #"line 1 cannot be read: "note 01 2016-01-03"."#),
            ("note 1 2016-1-3\n", #"line 1 cannot be read: "note 1 2016-1-3"."#),
            ("note 1 2016-01-xx\n", #"line 1 cannot be read: "note 1 2016-01-xx"."#),
            ("note 1 2016-01-03\n=\n|\nnote 1 2016-01-03\n=\n|\nend 2\n", "line 7: a second note 1."),
        ]
    )
    func `a damaged file of 1.0 is refused`(content: String, message: String) {
        let error = #expect(throws: NotesError.self) {
            try SingleNotesFile.decode(Data(content.utf8), path: "notes.txt")
        }
        #expect(error?.description == "notes.txt\(message.hasPrefix("line") ? ", " : " ")\(message)")
    }

    @Test(
        arguments: [
            ("", "does not begin with `note ID DAY`."),
            ("=a\n\nb", "does not begin with `note ID DAY`."),
            ("note 1 2016-01-03\n=a", "ends within its header: it was cut short."),
            ("note 1 2016-01-03\n\n", #"has a header line that cannot be read: ""."#),
            ("note 1 2016-01-03\n=a\ntext\n", #"has a header line that cannot be read: "text"."#),
        ]
    )
    func `a damaged file of a note is refused`(content: String, message: String) {
        let error = #expect(throws: NotesError.self) {
            try NoteFile.decode(Data(content.utf8), path: "a.txt")
        }
        #expect(error?.description == "a.txt \(message)")
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        let bytes = Data([0x6E, 0xFF, 0x0A])
        for decode in [
            { _ = try SingleNotesFile.decode($0, path: "a") }, { _ = try NoteFile.decode($0, path: "a") },
        ]
            as [(Data) throws -> Void]
        {
            let error = #expect(throws: NotesError.self) { try decode(bytes) }
            #expect(error?.description == "a is not UTF-8 text.")
        }
    }

    @Test(
        arguments: [
            ("a=1\nb", #"line 2 is not `key=value`: "b"."#),
            ("=1", #"line 1 is not `key=value`: "=1"."#),
            ("a=1\n\n# a=2\na=3", "line 4 sets a a second time."),
        ]
    )
    func `damaged preferences are refused`(content: String, message: String) {
        let error = #expect(throws: NotesError.self) {
            try NotesPreferences.decodeText(Data(content.utf8), path: "p")
        }
        #expect(error?.description == "p, \(message)")
    }

    /// Texts made of what divides lines, marks them, combines and hides, from a fixed seed.
    private func randomNotes(count: Int) -> [Note] {
        var random = Seeded(state: 20_160_103)
        let pieces = [
            "", "\n", "\r\n", "\r", "\0", "|", "=", "#", "note 1 2016-01-03", "end 1", "é", "e\u{301}",
            "\u{301}", "\u{FEFF}",
            "\u{2028}", "👨‍👩‍👧", "\u{200D}", "\u{E000}", "\u{10FFFF}", "\"", "\\", "/", " ", "a", "日",
        ]
        func text(_ upTo: Int) -> String {
            (0..<Int.random(in: 0...upTo, using: &random)).reduce(into: "") { text, _ in
                text += pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }
        }
        return (1...count).map { id in
            let tags = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                String(String.UnicodeScalarView(text(4).unicodeScalars.filter { $0 != "\n" }))
            }
            return Note(id: id, created: "2016-01-03", title: text(6), tags: tags, text: text(20))
        }
    }
}

/// SplitMix64: small, and the same numbers on every machine.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
