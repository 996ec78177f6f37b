import Foundation
import Testing

@testable import AppMigrations

@Suite(.temporaryDirectory) struct ResettingAttemptsTests {
    let folder = TemporaryDirectory.current

    private let limited = MigrationManager.Options(attemptLimit: 3)

    /// Three processes died in 1.2 and three in 1.3; 1.2 had come to a checkpoint.
    private static let died = """
        "minimumAppVersion": "1.1",
        "latestAttempt": { "version": "1.2", "attemptCount": 5, "crashCount": 2, "appVersion": "1.4",
        "startedAt": "2026-11-21T03:54:28Z", "failure": null, "checkpoint": "row 7", "checkpointAppVersion": "1.4",
        "progress": 0.5 },
        "otherAttempts": [ { "version": "1.3", "attemptCount": 4, "crashCount": 3, "appVersion": "1.4" } ],
        """

    @Test func `migrations whose limit was reached run again with the next manager, and all else stays`()
        throws
    {
        try folder.writeState(lastRun: "1.1", baseline: "1.0", launched: "1.4", more: Self.died)
        let manager = try folder.manager("1.4", options: limited)
        #expect(try manager.refusal(of: "1.2").code == .attemptLimitReached)
        try manager.resetAttempts()
        // The manager that was closed stays so.
        #expect(try manager.refusal(of: "1.2").code == .managerClosed)
        let status = try manager.status
        #expect(status.lastRunVersion == version("1.1"))
        #expect(status.baseline == version("1.0"))
        #expect(status.launchedVersion == version("1.4"))
        #expect(status.minimumAppVersion == version("1.1"))
        #expect(status.latestAttempt?.crashCount == 0)
        #expect(status.latestAttempt?.attemptCount == 5)
        #expect(status.latestAttempt?.checkpoint == "row 7")
        #expect(status.latestAttempt?.progress == 0.5)
        #expect(
            status.latestAttempt?.failure
                == "The process crashed in this attempt. Later, resetAttempts() was called."
        )
        #expect(status.otherAttempts.map(\.crashCount) == [0])
        #expect(status.otherAttempts.map(\.attemptCount) == [4])
        let next = try folder.manager("1.4", options: limited)
        try next.whenMigrating(toVersion: "1.2") { context in #expect(context.attempt == 6) }
        try next.whenMigrating(toVersion: "1.3") { context in #expect(context.attempt == 5) }
        #expect(try next.status.history.map(\.attemptCount) == [6, 5])
    }

    @Test func `the next three crashes reach the limit again`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4", more: Self.died)
        try folder.manager("1.4", options: limited).resetAttempts()
        var state = try #require(
            try StateFile(location: StateLocation(name: "Library", directory: folder.path)).readState()
        )
        let pending = DeclaredMigration(version: version("1.2"))
        for crashCount in 0...2 {
            let decision = try declarations(state).decide(pending, in: state.versions, attemptLimit: 3)
            if case .run(let next) = decision, next.crashCount == crashCount {
                #expect(next.attemptCount == 6 + crashCount)
            } else {
                Issue.record("\(decision)")
            }
            let known = AttemptedMigration("1.2", 6 + crashCount, crashCount: crashCount, by: "1.4")
            state.versions.latestAttempt = LatestAttempt(known, at: 0)
        }
        let error = #expect(throws: MigrationError.self) {
            try declarations(state).decide(pending, in: state.versions, attemptLimit: 3)
        }
        #expect(error?.code == .attemptLimitReached)
        #expect(error?.description.contains("3 processes") == true)
    }

    private func declarations(_ state: MigrationState) throws -> Declarations {
        let location = StateLocation(name: "Library", directory: folder.path)
        return Declarations(
            state.versions,
            under: try UpgradeRules(appVersion: version("1.4"), upgradesFrom: nil, in: location)
        )
    }

    @Test func `what an attempt failed with stays`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        _ = try manager.failure(of: "1.2")
        let before = try folder.stateText()
        try manager.resetAttempts()
        #expect(try folder.stateText() == before)
    }

    @Test func `without a crash nothing is saved`() throws {
        let manager = try folder.manager("1.4")
        try folder.makeFolder(folder.obstacle)
        try manager.resetAttempts()
        #expect(try manager.declare("1.4") == [])
    }

    @Test func `crashes that can't be forgotten are an error`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4", more: Self.died)
        let manager = try folder.manager("1.4", options: limited)
        try folder.makeFolder(folder.obstacle)
        let error = try #require(throws: MigrationError.self) { try manager.resetAttempts() }
        #expect(error.code == .stateNotSaved)
        #expect(error.description.contains("The counts of crashes were not changed."))
        try folder.remove(folder.obstacle)
        #expect(try manager.refusal(of: "1.2").code == .attemptLimitReached)
    }

    @Test func `a manager that only looks, and one inside of a closure or a plan, forgets nothing`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4", more: Self.died)
        let before = try folder.everything()
        let look = try folder.look("1.4")
        #expect(try #require(throws: MigrationError.self) { try look.resetAttempts() }.code == .readOnly)
        let manager = try folder.manager("1.4")
        #expect(try folder.everything() == before)
        let text = try folder.stateText()
        #expect(throws: MigrationError.self) { try manager.plan { try $0.resetAttempts() } }
        #expect(try folder.stateText() == text)
        try manager.whenMigrating(toVersion: "1.2") {
            let error = #expect(throws: MigrationError.self) { try manager.resetAttempts() }
            #expect(error?.code == .nested)
        }
    }
}
