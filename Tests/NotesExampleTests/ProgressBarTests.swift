import AppMigrations
import AppMigrationsGate
import Foundation
import TestSupport
import Testing

@testable import NotesExample

struct ProgressBarTests {
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
        try await withNotesFolder { folder async throws in
            let drawn = Lines()
            let output = try await folder.start(as: .latest, bar: drawn.output)
            #expect(!output.contains("    running  ") && output.contains("    ran      3.1"))
            #expect(drawn.all.last == "")
            let percents = drawn.all.dropLast().map { $0.split(separator: "] ").last?.prefix { $0 != " " } }
            let numbers = percents.compactMap { Int($0 ?? "") }
            #expect(numbers == numbers.sorted() && numbers.count == percents.count, "\(drawn.all)")
            let later = Lines()
            try await folder.start(as: .latest, bar: later.output)
            #expect(later.all == [""])
        }
    }

    @Test func `a state that can't be read ends the tool, and keeps no caller waiting`() async throws {
        try await withTemporaryFolder { path async throws in
            let state = path + "/state"
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
}
