import Foundation
import Testing

@testable import NotesExample

@Suite(.temporaryDirectory) struct FormatTests {
    let folder = NotesFolder.current

    @Test func `any text survives the files`() throws {
        try folder.makeFolder("")
        let notes = randomNotes(count: 2_000)
        try folder.writeJSON(notes, to: "notes.json")
        #expect(try folder.readJSON("notes.json") == notes)
    }

    @Test func `any text survives both schemas of the database`() async throws {
        try folder.makeFolder("")
        let notes = randomNotes(count: 2_000)
        let database = try NotesDatabase(path: folder.path(of: "notes.sqlite"))
        try database.migrate(to: .first)
        try database.transaction { try notes.forEach(database.add) }
        #expect(try database.notes() == notes)
        try database.migrate(to: .tagsOnce)
        #expect(try database.notes() == notes)
    }

    @Test func `notes with differently composed accents are not equal`() {
        let composed = Note(id: 1, created: "2017-06-10", title: "é", tags: [], text: "")
        let decomposed = Note(id: 1, created: "2017-06-10", title: "e\u{301}", tags: [], text: "")
        #expect(composed != decomposed)
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
        var random = SeededGenerator(seed: 20_160_103)
        let pieces = [
            "", "\n", "\r\n", "\r", "\0", "|", "=", "#", "é", "e\u{301}",
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
