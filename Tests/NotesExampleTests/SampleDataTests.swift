import Foundation
import Testing

@testable import NotesExample

@Suite(.temporaryDirectory) struct SampleDataTests {
    let folder = NotesFolder.current

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
