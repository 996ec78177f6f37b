import Foundation
import Testing

/// The README beside its samples, which Tests/Packages/Samples compiles and runs.
@Suite struct ReadmeTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func `the README is short, and begins with code`() throws {
        let text = try Self.text("README.md")
        // The signs that make a table are no words.
        let words = text.split(whereSeparator: \.isWhitespace).filter { $0 != "|" && $0 != "---" }
        #expect(words.count <= 500)
        #expect(text.components(separatedBy: "\n").prefix(12).contains("```swift"))
    }

    @Test func `every file that the README leads to is there`() throws {
        let links = try Self.text("README.md").matches(of: /\]\(([^)]+)\)/).map { String($0.output.1) }
        #expect(links.count >= 10)
        for link in links {
            let path = Self.root.appending(path: link).path(percentEncoded: false)
            #expect(FileManager.default.fileExists(atPath: path), "\(link)")
        }
    }

    @Test func `the README's two commands are what CI runs`() throws {
        let readme = try Self.text("README.md")
        let script = try Self.text(".ci/run")
        for command in ["swift run NotesExample", "swift test --disable-xctest --no-parallel"] {
            #expect(readme.contains("```sh\n\(command)\n```"))
            #expect(script.contains(command))
        }
    }
}
