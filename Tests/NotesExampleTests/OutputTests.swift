import AppMigrations
import Foundation
import Testing

@testable import NotesExample

/// The lines that a person sees.
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

@Suite(.temporaryDirectory) struct ProgressBarTests {
    let folder = NotesFolder.current

    static let texts: [(MigrationGate.State, String?)] = [
        (.idle, nil), (.ready, nil), (.planning(pending: 0), nil),
        (.planning(pending: 3), "[------------------------------] 0 % "),
        (.migrating(fraction: 0.5, note: "37 of 74"), "[###############---------------] 50 % 37 of 74"),
        (.migrating(fraction: 1, note: nil), "[##############################] 100 % "),
        (.waitingForAnotherProcess, "Another process is migrating…"),
    ]

    @Test(arguments: texts.indices)
    func `a state is drawn`(index: Int) {
        #expect(ProgressBar.text(for: Self.texts[index].0) == Self.texts[index].1)
    }

    @Test func `a bar takes the place of the lines, never falls, and is gone before the notes are opened`()
        async throws
    {
        let drawn = Log()
        let output = try await folder.start(as: .latest, bar: drawn.output)
        #expect(!output.contains("    running  ") && output.contains("    ran      3.1"))
        #expect(drawn.lines.last == "")
        let percents = drawn.lines.dropLast().map { $0.split(separator: "] ").last?.prefix { $0 != " " } }
        let numbers = percents.compactMap { Int($0 ?? "") }
        #expect(numbers == numbers.sorted() && numbers.count == percents.count, "\(drawn.lines)")
        let later = Log()
        try await folder.start(as: .latest, bar: later.output)
        #expect(later.lines == [""])
    }
}
