import Foundation
import Testing

@testable import NotesExample

/// What a person sees.
///
/// The fixture is the output itself, with names in place of the folder, the times and the durations.
struct OutputTests {
    @Test func `the tour says word for word what its fixture says`() async throws {
        let lines = Log()
        let errors = Log()
        #expect(await EntryPoint.run([], output: lines.output, errors: errors.output) == 0)
        #expect(errors.text.isEmpty)
        let folder = try #require(lines.text.firstMatch(of: /Notes 1.0 starts on (.+)/)).1
        defer { removeTour(at: String(folder)) }

        let actual = normalised(lines.text, folder: String(folder)).lines
        let url = try #require(Bundle.module.url(forResource: "Fixtures/tour", withExtension: "txt"))
        let expected = try String(contentsOf: url, encoding: .utf8).lines
        for (number, (line, other)) in zip(actual, expected).enumerated() {
            try #require(line.hasSameBytes(as: other), "line \(number + 1)")
        }
        #expect(actual.count + 1 == expected.count)
    }

    @Test func `the example stays small enough to be read`() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../Sources/NotesExample").standardized
        let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path(percentEncoded: false))
        let count = try paths.filter { $0.hasSuffix(".swift") }.reduce(0) {
            try $0 + String(contentsOf: sources.appending(path: $1), encoding: .utf8).lines.count - 1
        }
        #expect(count < 1_600)
    }

    private func removeTour(at path: String) {
        #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) }
    }

    private func normalised(_ output: String, folder: String) -> String {
        output
            .replacing(folder, with: "FOLDER")
            .replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: "TIME")
            .replacing(/"duration" : [0-9.e-]+/, with: "\"duration\" : SECONDS")
    }
}
