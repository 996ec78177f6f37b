import Foundation
import Testing

@testable import AppMigrations

@Suite(.temporaryDirectory) struct MigrationPlanTests {
    let folder = TemporaryDirectory.current

    private func kinds(_ rows: [PlannedMigration]) -> [String] { rows.map { "\($0.version) \($0.kind)" } }

    @Test func `a plan says what each declaration would do`() throws {
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

    @Test func `a plan of a fresh install has nothing to run, until a start got through its declarations`()
        throws
    {
        for _ in 1...2 {
            let fresh = try folder.manager("1.4")
            #expect(
                try kinds(fresh.plan { try $0.declare("1.1", "1.4-1") }) == [
                    "1.1 baseline", "1.4-1 baseline",
                ]
            )
        }
        #expect(try folder.manager("1.4").declare("1.1") == [])
        let next = try folder.manager("1.4")
        #expect(
            try kinds(next.plan { try $0.declare("1.1", "1.4-1") }) == ["1.1 baseline", "1.4-1 willRun"]
        )
    }

    @Test func `what is pending would run after a downgrade too`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.5")
        let rows = try folder.manager("1.4").plan { try $0.declare("1.1", "1.2") }
        #expect(kinds(rows) == ["1.1 baseline", "1.2 willRun"])
    }

    @Test func `what would be refused, and all after it, is refused`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        let rows = try manager.plan { try $0.declare("1.2", "1.2.0", "1.3", "1.5") }
        #expect(kinds(rows) == ["1.2 willRun", "1.2.0 refused", "1.3 refused", "1.5 refused"])
        #expect(rows.map(\.error?.code) == [nil, .declaredOutOfOrder, .managerClosed, .managerClosed])
        #expect(try kinds(manager.plan { try $0.declare("1.5") }) == ["1.5 refused"])
        #expect(try manager.declare("1.2", "1.3") == ["1.2", "1.3"])
    }

    @Test func `a plan changes nothing and calls no closure`() throws {
        let manager = try folder.manager("1.4", after: "1.1", launched: "1.4")
        let before = try folder.stateText()
        for _ in 1...2 {
            let rows = try manager.plan { manager in
                let isRun = try manager.whenMigrating(toVersion: "1.2") { Issue.record("The closure ran.") }
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

    @Test func `an error of the declarations comes out and closes nothing`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        #expect(throws: Failure.self) { try manager.plan { _ in throw Failure() } }
        let error = try #require(throws: MigrationError.self) {
            try manager.plan { try $0.declare("1.2", "x") }
        }
        #expect(error.code == .invalidVersion)
        #expect(try manager.declare("1.2") == ["1.2"])
    }

    @Test func `a plan reads the state again`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        try folder.manager("1.4").declare("1.2")
        #expect(
            try kinds(manager.plan { try $0.declare("1.2", "1.3") }) == ["1.2 alreadyRun", "1.3 willRun"]
        )
    }

    @Test func `another manager of the state inside a plan is nested, and closes the planning one never`()
        throws
    {
        let manager = try folder.manager("1.4", after: "1.1")
        let other = try folder.manager("1.4")
        for wrong in [manager, other] {
            let error = try #require(throws: MigrationError.self) {
                try manager.plan { _ in try wrong.declare("1.2") }
            }
            #expect(error.code == .nested)
        }
        #expect(throws: MigrationError.self) { try manager.plan { _ in try manager.reset(to: "1.1") } }
        #expect(throws: MigrationError.self) { try manager.plan { try $0.reset(to: "1.1") } }
        #expect(throws: MigrationError.self) { try manager.plan { try $0.resetAttempts() } }
        #expect(try manager.declare("1.2") == ["1.2"])
        #expect(try other.declare("1.3") == ["1.3"])
    }

    @Test func `the planning manager is refused inside its plan even for what ran`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        #expect(throws: MigrationError.self) { try manager.plan { _ in try manager.declare("1.0") } }
    }

    @Test func `a manager of another state works inside a plan`() throws {
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

    @Test func `a manager kept from a plan is blocked after it`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        var kept: MigrationManager?
        _ = try manager.plan { kept = $0 }
        for text in ["1.1", "1.2"] {
            let error = try #require(try kept?.refusal(of: text))
            #expect(error.code == .managerClosed)
            #expect(
                error.description
                    == "Migration \(text) was not run. This manager was passed to the closure of a plan of manager \"Library\" "
                    + "(\(folder.stateFile)), and the plan has ended. Use the manager on which plan was called."
            )
        }
        #expect(throws: MigrationError.self) { try kept?.reset(to: "1.0") }
        #expect(throws: MigrationError.self) { try kept?.resetAttempts() }
        #expect(try manager.declare("1.2") == ["1.2"])
    }

    @Test func `an asynchronous plan has the same rows`() async throws {
        let manager = try folder.manager("1.4", after: "1.1")
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
