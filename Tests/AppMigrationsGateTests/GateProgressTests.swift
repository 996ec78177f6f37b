import AppMigrations
import Foundation
import TestSupport
import Testing

@testable import AppMigrationsGate

@Suite struct GateProgressTests {
    @Test func `the fraction begins at nothing, never falls, and ends at one`() async throws {
        try await withTemporaryFolder { folder async throws in
            try Data("old".utf8).write(to: URL(filePath: folder + "/notes"))
            let notes = folder + "/notes"
            let seen = Log()
            let gate = MigrationGate { progress in
                let options = progress.options(.init { _ in seen.add(progress.gate.state.text) })
                let library = try manager("1.3", in: folder, options, named: "Library")
                let search = try manager("1.3", in: folder, options, named: "Search")
                try progress.migrate(library) {
                    try $0.whenMigrating(toVersion: "1.1") { $0.reportProgress(0.5, note: "half") }
                    try $0.whenMigrating(toVersion: "1.2", protecting: [notes]) { $0.reportProgress(0.5) }
                }
                try progress.migrate(search) { try $0.whenMigrating(toVersion: "1.3") {} }
                progress.expect(steps: 2)
                progress.report(0.5, note: "files")
                seen.add(progress.gate.state.text)
                progress.finishStep()
                progress.finishStep()
                seen.add(progress.gate.state.text)
            }
            try await gate.ready()
            let fractions = seen.lines.compactMap { Double($0.split(separator: " ").dropFirst().first ?? "") }
            #expect(fractions == fractions.sorted(), "\(seen.lines)")
            #expect(fractions.first == 0 && fractions.last == 1, "\(seen.lines)")
            #expect(seen.lines.contains("migrating 0.25 half"), "\(seen.lines)")
            #expect(!seen.lines.contains { $0.contains(folder) }, "\(seen.lines)")
        }
    }
}

extension MigrationGate.State {
    fileprivate var text: String {
        switch self {
        case .migrating(let fraction, let note): "migrating \(fraction) \(note ?? "")"
        case .planning(let pending): "planning \(pending)"
        default: "\(self)"
        }
    }
}
