import Foundation
import Testing

@testable import NotesExample

@Suite(.temporaryDirectory) struct SampleDataTests {
    let folder = NotesFolder.current

    @Test func `there are at least sixty notes, numbered from one`() throws {
        let notes = try Sample.notes
        #expect(notes.count >= 60)
        #expect(notes.map(\.id) == Array(1...notes.count))
    }

    static let kinds: [(String, @Sendable (Note) -> Bool)] = [
        ("an empty text", { $0.text.isEmpty }),
        ("an empty title", { $0.title.isEmpty }),
        ("a very long text", { $0.text.utf8.count > 10_000 }),
        ("a title longer than a file name", { $0.title.utf8.count > 255 }),
        ("a first letter longer than a file name", { $0.title.first?.utf8.count ?? 0 > 255 }),
        ("a leading dot", { $0.title.hasPrefix(".") }),
        ("trailing spaces", { $0.title.hasSuffix("   ") }),
        ("a line break in the title", { $0.title.contains("\n") }),
        ("Windows line ends", { $0.text.contains("\r\n") }),
        ("an emoji", { $0.title.unicodeScalars.contains { $0.properties.isEmojiPresentation } }),
        ("Arabic", { $0.text.unicodeScalars.contains { 0x600...0x6FF ~= $0.value } }),
        ("Japanese", { $0.text.unicodeScalars.contains { 0x3040...0x30FF ~= $0.value } }),
        ("Cyrillic", { $0.text.unicodeScalars.contains { 0x400...0x4FF ~= $0.value } }),
        ("a byte order mark", { $0.text.unicodeScalars.first == "\u{FEFF}" }),
        ("an empty tag", { $0.tags.contains("") }),
    ]

    @Test(arguments: kinds)
    func `a person's notes have them all`(what: String, isOne: @Sendable (Note) -> Bool) throws {
        #expect(try Sample.notes.contains(where: isOne), "\(what)")
    }

    @Test func `a new folder is filled once`() async throws {
        #expect(try SampleData.fill(folder))
        #expect(try folder.names() == ["notes.json", "preferences.txt"])
        #expect(try !SampleData.fill(folder))
    }

    @Test(arguments: ["preferences.txt", "notes.json.new"])
    func `a folder whose filling was interrupted is filled up`(leftover: String) async throws {
        try folder.makeFolder("")
        try folder.write(Data("half".utf8), to: leftover)
        #expect(try SampleData.fill(folder))
        #expect(try folder.notes == Sample.notes)
        #expect(try folder.preferences == Sample.preferences)
    }

    @Test func `a folder with somebody's other files is left alone`() async throws {
        try folder.makeFolder("Photos")
        let error = #expect(throws: NotesError.self) { try SampleData.fill(folder) }
        #expect(
            error?.description
                == "\(folder.path) holds no notes but is not empty (Photos). Name a new or empty folder."
        )
        #expect(try folder.names() == ["Photos"])
    }
}
