import AppMigrations
import AppMigrationsGate
import Foundation
import TestSupport
import Testing

@Suite struct GateProgressTests {
    @Test func `the fraction begins at nothing, never falls, and ends at one`() async throws {
        try await withTemporaryFolder { folder async throws in
            try Data("old".utf8).write(to: URL(filePath: folder + "/notes"))
            let notes = folder + "/notes"
            let seen = Log()
            let gates = Guarded<MigrationGate?>(nil)
            let gate = MigrationGate { progress in
                let options = progress.options(
                    .init { _ in seen.add(gates.withLock { $0 }?.state.text ?? "no gate") }
                )
                let library = try MigrationManager(
                    named: "Library",
                    currentVersion: "1.3",
                    firstRun: .everything,
                    stateDirectory: folder,
                    options: options
                )
                let search = try MigrationManager(
                    named: "Search",
                    currentVersion: "1.3",
                    firstRun: .everything,
                    stateDirectory: folder,
                    options: options
                )
                try progress.migrate(library) {
                    try $0.whenMigrating(toVersion: "1.1") { $0.reportProgress(0.5, note: "half") }
                    try $0.whenMigrating(toVersion: "1.2", protecting: [notes]) { $0.reportProgress(0.5) }
                }
                try progress.migrate(search) { try $0.whenMigrating(toVersion: "1.3") {} }
                progress.expect(steps: 2)
                progress.report(0.5, note: "files")
                seen.add(gates.withLock { $0 }?.state.text ?? "no gate")
                progress.finishStep()
                progress.finishStep()
                seen.add(gates.withLock { $0 }?.state.text ?? "no gate")
            }
            gates.withLock { $0 = gate }
            try await gate.ready()
            gates.withLock { $0 = nil }
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
