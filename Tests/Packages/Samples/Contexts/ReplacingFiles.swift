import Foundation
import Testing

@testable import AppStart

@Suite struct FoundFiles {
    @Test func `notes that were found are merged, and none is overwritten`() async throws {
        try await withFolder { path async throws in
            for name in ["Notes", "Notes.found-20261121T035428Z", "Notes.found-20261121T035428Z-2"] {
                try FileManager.default.createDirectory(
                    atPath: path + "/" + name,
                    withIntermediateDirectories: false
                )
            }
            try write("app", to: path + "/Notes/A.md")
            try write("extension", to: path + "/Notes.found-20261121T035428Z/a.md")
            try write("old release", to: path + "/Notes.found-20261121T035428Z/b.txt")
            try write("second", to: path + "/Notes.found-20261121T035428Z-2/b.md")
            try write("no note", to: path + "/Notes.found-20261121T035428Z-2/photo.jpg")
            try write("no folder", to: path + "/Notes.found-file")
            let folder = URL(filePath: path)
            for _ in 1...2 {
                try mergeFoundNotes(in: folder)
                let notes = try Dictionary(
                    uniqueKeysWithValues: names(in: folder.appending(path: "Notes")).map {
                        ($0, try String(contentsOfFile: path + "/Notes/" + $0, encoding: .utf8))
                    }
                )
                let rest = ["Notes", "Notes.found-20261121T035428Z-2", "Notes.found-file"]
                #expect(try names(in: folder).sorted() == rest)
                #expect(try read(path + "/Notes.found-20261121T035428Z-2/photo.jpg") == "no note")
                #expect(notes.count == 4)
                #expect(notes["A.md"] == "app" && notes["a 2.md"] == "extension")
                #expect(Set([notes["b.md"], notes["b 2.md"]]) == ["old release", "second"])
            }
        }
    }
}
