import Foundation
import Testing

@testable import AppMigrations

/// What a plan makes of attempts that nobody recorded, and of rows that the history no longer holds.
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

    @Test func `what ran before the first row that is left may have run, however few are left`() throws {
        func plan(_ rows: (String, String)...) throws -> [String] {
            let rows = rows.map {
                #"{"version":"\#($1)","previousVersion":"\#($0)","appVersion":"2","finishedAt":"2026-11-21T00:00:00Z","duration":0,"attempts":1}"#
            }
            let history = "[" + rows.joined(separator: ",") + "]"
            try folder.write(
                #"{"format":1,"name":"Library","lastRunVersion":"1.5","baseline":"1.1","history":\#(history)}"#
            )
            return try kinds(folder.manager("2").plan { try $0.declare("1.2", "1.3") })
        }
        #expect(try plan(("1.3", "1.4"), ("1.4", "1.5")) == ["1.2 alreadyRun", "1.3 alreadyRun"])
        #expect(try plan(("1.1", "1.4"), ("1.4", "1.5")) == ["1.2 missed", "1.3 missed"])
        // Reset to 1.1, after which 1.5 was the first to run.
        #expect(try plan(("1.3", "1.4"), ("1.1", "1.5")) == ["1.2 missed", "1.3 missed"])
    }

    @Test func `what a full history no longer holds may have run`() throws {
        let rows = (1...1_000).map {
            #"{"version":"1.\#($0 + 10)","previousVersion":"1.\#($0 + 9)","appVersion":"2","finishedAt":"2026-11-21T00:00:00Z","duration":0,"attempts":1}"#
        }
        let history = "[" + rows.joined(separator: ",") + "]"
        try folder.write(
            #"{"format":1,"name":"Library","lastRunVersion":"1.1010","baseline":"1.1","history":\#(history)}"#
        )
        let plan = try folder.manager("2").plan {
            try $0.declare("1.1", "1.5", "1.10", "1.10-1", "1.11", "1.11-1", "1.1010", "2")
        }
        #expect(
            kinds(plan) == [
                "1.1 baseline", "1.5 alreadyRun", "1.10 alreadyRun", "1.10-1 missed", "1.11 alreadyRun",
                "1.11-1 missed", "1.1010 alreadyRun", "2 willRun",
            ]
        )
    }
}
