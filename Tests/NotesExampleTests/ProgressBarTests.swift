import AppMigrations
import AppMigrationsGate
import Foundation
import Testing

@testable import NotesExample

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

    @Test func `a state that can't be read ends the tool, and keeps no caller waiting`() async throws {
        let state = TemporaryDirectory.current.file("state")
        try FileManager.default.createSymbolicLink(atPath: state, withDestinationPath: state)
        let gate = MigrationGate { _ in
            _ = try MigrationManager(currentVersion: "1.0", stateDirectory: state)
        }
        let error = await #expect(throws: MigrationError.self) {
            try await ProgressBar(draw: nil).follow(gate)
        }
        #expect(error?.code == .stateUnreadable)
        try FileManager.default.removeItem(atPath: state)
        gate.retry()
        try await gate.ready()
    }
}
