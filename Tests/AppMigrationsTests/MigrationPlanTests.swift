import Foundation
import Testing

@testable import AppMigrations

struct MigrationPlanTests {
    private func kinds(_ rows: [PlannedMigration]) -> [String] { rows.map(\.description) }

    @Test func `a plan says what each declaration would do`() throws {
        try withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1", baseline: "1.0")
            try folder.manager("1.4").declare("1.1-1", "1.3")
            let manager = try folder.manager("1.4")
            let rows = try manager.plan { manager in
                try manager.declare("0.9", "1.0", "1.1-1", "1.2", "1.3", "1.3-1", "1.4", "1.4-1")
            }
            #expect(
                kinds(rows) == [
                    "0.9 baseline", "1.0 baseline", "1.1-1 alreadyRun", "1.2 missed", "1.3 alreadyRun",
                    "1.3-1 willRun",
                    "1.4 willRun", "1.4-1 willRun",
                ]
            )
            #expect(rows.allSatisfy { $0.error == nil })
        }
    }

    @Test func `a plan of a fresh install has nothing to run, until the next start`() throws {
        try withTemporaryDirectory { folder in
            let fresh = try folder.manager("1.4")
            #expect(
                try kinds(fresh.plan { try $0.declare("1.1", "1.4-1") }) == [
                    "1.1 baseline", "1.4-1 baseline",
                ]
            )
            let next = try folder.manager("1.4")
            #expect(
                try kinds(next.plan { try $0.declare("1.1", "1.4-1") }) == ["1.1 baseline", "1.4-1 willRun"]
            )
        }
    }

    @Test func `a downgrade holds what is pending`() throws {
        try withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1", launched: "1.5")
            let rows = try folder.manager("1.4").plan { try $0.declare("1.1", "1.2") }
            #expect(kinds(rows) == ["1.1 baseline", "1.2 heldByDowngrade"])
        }
    }

    @Test func `what would be refused, and all after it, is refused`() throws {
        try withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1")
            let manager = try folder.manager("1.4")
            let rows = try manager.plan { try $0.declare("1.2", "1.2.0", "1.3", "1.5") }
            #expect(kinds(rows) == ["1.2 willRun", "1.2.0 refused", "1.3 refused", "1.5 refused"])
            #expect(rows.map(\.error?.code) == [nil, .outOfOrder, .blocked, .blocked])
            #expect(try kinds(manager.plan { try $0.declare("1.5") }) == ["1.5 refused"])
            #expect(try manager.declare("1.2", "1.3") == ["1.2", "1.3"])
        }
    }

    @Test func `a plan changes nothing and calls no closure`() throws {
        try withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1", launched: "1.4")
            let manager = try folder.manager("1.4")
            let before = try folder.stateText()
            for _ in 1...2 {
                let rows = try manager.plan { manager in
                    let isRun = try manager.whenMigrating(toVersion: "1.2") {
                        Issue.record("The closure ran.")
                    }
                    #expect(!isRun)
                    #expect(manager.currentVersion == version("1.4"))
                    #expect(manager.launch == .same)
                }
                #expect(kinds(rows) == ["1.2 willRun"])
            }
            #expect(try folder.stateText() == before)
            #expect(try folder.names() == ["Library.migrations.json"])
            #expect(try manager.declare("1.2") == ["1.2"])
        }
    }

    @Test func `an error of the declarations comes out and closes nothing`() throws {
        try withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1")
            let manager = try folder.manager("1.4")
            #expect(throws: Failure.self) { try manager.plan { _ in throw Failure() } }
            let error = try #require(throws: MigrationError.self) {
                try manager.plan { try $0.declare("1.2", "x") }
            }
            #expect(error.code == .invalidVersion)
            #expect(try manager.declare("1.2") == ["1.2"])
        }
    }

    @Test func `a plan reads the state again`() throws {
        try withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1")
            let manager = try folder.manager("1.4")
            try folder.manager("1.4").declare("1.2")
            #expect(
                try kinds(manager.plan { try $0.declare("1.2", "1.3") }) == ["1.2 alreadyRun", "1.3 willRun"]
            )
        }
    }

    @Test func `another manager of the state inside a plan is nested, and closes the planning one never`()
        throws
    {
        try withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1")
            let manager = try folder.manager("1.4")
            let other = try folder.manager("1.4")
            for wrong in [manager, other] {
                let error = try #require(throws: MigrationError.self) {
                    try manager.plan { _ in try wrong.declare("1.2") }
                }
                #expect(error.code == .nested)
            }
            #expect(throws: MigrationError.self) { try manager.plan { _ in try manager.reset(to: "1.1") } }
            #expect(throws: MigrationError.self) { try manager.plan { try $0.reset(to: "1.1") } }
            #expect(throws: MigrationError.self) { try manager.plan { try $0.forgetState() } }
            #expect(try manager.declare("1.2") == ["1.2"])
            #expect(try other.declare("1.3") == ["1.3"])
        }
    }

    @Test func `the planning manager is refused inside its plan even for what ran`() throws {
        try withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1")
            let manager = try folder.manager("1.4")
            #expect(throws: MigrationError.self) { try manager.plan { _ in try manager.declare("1.0") } }
        }
    }

    @Test func `a manager of another state works inside a plan`() throws {
        try withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1")
            let other = try MigrationManager(
                named: "Preferences",
                currentVersion: "1",
                firstRun: .everything,
                stateDirectory: folder.path
            )
            let rows = try folder.manager("1.4").plan { manager in
                #expect(try other.declare("1") == ["1"])
                try manager.declare("1.2")
            }
            #expect(kinds(rows) == ["1.2 willRun"])
        }
    }

    @Test func `a manager kept from a plan is blocked after it`() throws {
        try withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1")
            let manager = try folder.manager("1.4")
            var kept: MigrationManager?
            _ = try manager.plan { kept = $0 }
            for text in ["1.1", "1.2"] {
                let error = try #require(try kept?.refusal(of: text))
                #expect(error.code == .blocked)
                #expect(
                    error.description
                        == "Migration \(text) was not run. This manager was handed out for a plan of the state "
                        + "\(folder.stateFile), and the plan is over. Declare with the manager that was asked for the plan."
                )
            }
            #expect(throws: MigrationError.self) { try kept?.reset(to: "1.0") }
            #expect(throws: MigrationError.self) { try kept?.forgetState() }
            #expect(try manager.declare("1.2") == ["1.2"])
        }
    }

    @Test func `an asynchronous plan has the same rows`() async throws {
        try await withTemporaryDirectory { folder in
            try folder.writeState(lastRun: "1.1")
            let manager = try folder.manager("1.4")
            let rows = try await manager.plan { manager in
                try await manager.whenMigrating(toVersion: "1.1") { await Task.yield() }
                try await manager.whenMigrating(toVersion: "1.2") { await Task.yield() }
            }
            #expect(kinds(rows) == ["1.1 baseline", "1.2 willRun"])
            let error = await #expect(throws: MigrationError.self) {
                try await manager.plan { _ in
                    try await manager.whenMigrating(toVersion: "1.2") { await Task.yield() }
                }
            }
            #expect(error?.code == .nested)
        }
    }

    @Test func `a plan doesn't take an attempt that is under way for a death`() throws {
        try withTemporaryDirectory { folder in
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
    }

    @Test func `a plan takes an attempt that nobody makes any more for a death`() throws {
        try withTemporaryDirectory { folder in
            try folder.writeState(
                lastRun: "1.1",
                launched: "1.4",
                more: """
                    "interrupted": { "version": "1.2", "attempts": 1, "deaths": 0, "protected": [],
                      "appVersion": "1.4", "startedAt": "2026-11-21T03:54:28Z", "failure": null },
                    """
            )
            let manager = try folder.manager(options: MigrationManager.Options(attemptLimit: 1))
            #expect(try kinds(manager.plan { try $0.declare("1.2") }) == ["1.2 refused"])
            #expect(try folder.names() == ["Library.migrations.json"])
            try FileManager.default.createSymbolicLink(
                atPath: folder.lockFile,
                withDestinationPath: "elsewhere"
            )
            let error = try #require(throws: MigrationError.self) {
                try manager.plan { try $0.declare("1.2") }
            }
            #expect(error.code == .stateNotSaved)
            #expect(error.path == folder.lockFile)
        }
    }

    @Test func `what ran before the first row that is left may have run, however few are left`() throws {
        try withTemporaryDirectory { folder throws in
            func plan(_ rows: (String, String)...) throws -> [String] {
                let rows = rows.map {
                    #"{"version":"\#($1)","from":"\#($0)","appVersion":"2","finishedAt":"2026-11-21T00:00:00Z","seconds":0,"attempts":1}"#
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
    }

    @Test func `what a full history no longer holds may have run`() throws {
        try withTemporaryDirectory { folder in
            let rows = (1...1_000).map {
                #"{"version":"1.\#($0 + 10)","from":"1.\#($0 + 9)","appVersion":"2","finishedAt":"2026-11-21T00:00:00Z","seconds":0,"attempts":1}"#
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
}
