import Foundation
import Testing

@testable import AppMigrations

/// A plan's rows for attempts that nobody recorded, and for rows that the history no longer holds.
@Suite(.temporaryDirectory) struct MigrationPlanHistoryTests {
    let folder = TemporaryDirectory.current

    private func kinds(_ rows: [PlannedMigration]) -> [String] { rows.map { "\($0.version) \($0.kind)" } }

    @Test func `a plan doesn't take an attempt that is under way for a death`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        let limited = MigrationManager.Options(attemptLimit: 1)
        let looking = try folder.manager(options: limited)
        var rows: [PlannedMigration] = []
        try folder.manager(options: limited).whenMigrating(toVersion: "1.2") {
            let before = try folder.names()
            rows = try looking.plan { try $0.declare("1.2") }
            #expect(try folder.names() == before)
        }
        #expect(kinds(rows) == ["1.2 willRun"])
    }

    @Test func `a plan takes an attempt that nobody makes any more for a death`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4", more: died(in: "1.2"))
        let manager = try folder.manager(options: MigrationManager.Options(attemptLimit: 1))
        #expect(try kinds(manager.plan { try $0.declare("1.2") }) == ["1.2 refused"])
        #expect(try folder.names() == ["Library.migrations.json"])
        try FileManager.default.createSymbolicLink(atPath: folder.lockFile, withDestinationPath: "elsewhere")
        let error = try #require(throws: MigrationError.self) { try manager.plan { try $0.declare("1.2") } }
        #expect(error.code == .stateUnreadable)
        #expect(error.path == folder.lockFile)
    }
}
