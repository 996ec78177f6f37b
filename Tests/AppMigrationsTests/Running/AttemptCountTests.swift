import Foundation
import Testing

@testable import AppMigrations

/// Attempts at and crashes in each pending version, whatever is begun in between.
@Suite(.temporaryDirectory) struct AttemptCountTests {
    let folder = TemporaryDirectory.current

    private func die(in folder: TemporaryDirectory, _ ran: [String], _ migration: String, app: String) async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                path = folder.path as String, ran = ran as [String], migration = migration as String,
                app = app as String
            ] in
            let manager = try MigrationManager(named: "Library", currentVersion: app, stateDirectory: path)
            for version in ran { try manager.whenMigrating(toVersion: version) {} }
            try manager.whenMigrating(toVersion: migration) { kill(getpid(), SIGKILL) }
        }
    }

    private func attempt(_ manager: MigrationManager, _ text: String) throws -> Int? {
        var attempt: Int?
        try manager.whenMigrating(toVersion: text) { context in attempt = context.attempt }
        return attempt
    }

    @Test func `a crash is remembered while an earlier migration fails`() async throws {
        try folder.writeState(lastRun: "1.3", launched: "1.5")
        await die(in: folder, ["1.4"], "1.5", app: "1.5")
        let failing = try folder.manager("1.5.1")
        try failing.declare("1.4")
        _ = try failing.failure(of: "1.4-1")
        let manager = try folder.manager("1.5.1")
        #expect(try attempt(manager, "1.4-1") == 2)
        #expect(try attempt(manager, "1.5") == 2)
        #expect(try manager.status.history.map(\.attemptCount) == [1, 2, 2])
        #expect(try !folder.stateText().contains("otherAttempts"))
    }

    @Test func `crashes up to the limit count while an earlier migration fails`() async throws {
        try folder.writeState(lastRun: "1.4", launched: "1.5")
        for _ in 1...2 { await die(in: folder, [], "1.5", app: "1.5") }
        _ = try folder.manager("1.5").failure(of: "1.4-1")
        let options = MigrationManager.Options(attemptLimit: 2)
        #expect(try folder.manager("1.5", options: options).refusal(of: "1.5").code == .attemptLimitReached)
        let newer = try folder.manager("1.5.1", options: options)
        #expect(try attempt(newer, "1.4-1") == 2)
        #expect(try attempt(newer, "1.5") == 3)
    }

    @Test func `each pending version has counts of its own`() {
        func attempt(_ text: String, _ count: Int, failure: String? = nil) -> LatestAttempt {
            let known = AttemptedMigration(text, count, crashCount: count - 1, by: "1.4")
            return LatestAttempt(known, at: 0, failure: failure)
        }
        var versions = StateVersions()
        versions.begin(attempt("1.3", 3))
        versions.begin(attempt("1.2", 1))
        versions.begin(attempt("1.1", 5, failure: "full"))
        versions.begin(attempt("1.2", 2))
        #expect(versions.otherAttempts.map(\.version) == [version("1.3"), version("1.1")])
        #expect(versions.attempts(at: version("1.1"))?.crashCount == 4)
        #expect(versions.attempts(at: version("1.2"))?.crashCount == 2)
        #expect(versions.attempts(at: version("1.3"))?.attemptCount == 3)
        #expect(versions.attempts(at: version("1.4")) == nil)
        versions.record(version("1.1"))
        #expect(versions.latestAttempt != nil)
        versions.record(version("1.2"))
        #expect(versions.latestAttempt == nil)
        #expect(versions.otherAttempts.map(\.version) == [version("1.3")])
        versions.record(version("1.3"))
        #expect(versions.otherAttempts.isEmpty)
    }

    @Test func `a reset forgets the counts of every version`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        _ = try folder.manager().failure(of: "1.3")
        _ = try folder.manager().failure(of: "1.2")
        #expect(try folder.stateText().contains("otherAttempts"))
        try folder.manager().reset(to: "1.1")
        #expect(try !folder.stateText().contains("otherAttempts"))
        #expect(try attempt(folder.manager(), "1.3") == 1)
    }

    @Test(arguments: [
        (
            #"[ { "version" : "1.3", "attemptCount" : 1, "crashCount" : 0 } ]"#,
            #"an object with the member "appVersion""#
        ),
        (#"{ }"#, "an array"), (#"[ { "version" : "x", "attemptCount" : 1 } ]"#, "a version"),
        (
            #"[ { "version" : "1.3", "attemptCount" : 1, "crashCount" : -1 } ]"#,
            "a whole number from 0 to 999999999"
        ),
    ])
    func `counts that can't be read are damage, and not none`(otherAttempts: String, expected: String) throws
    {
        try folder.writeState(lastRun: "1.1", more: "\"otherAttempts\": \(otherAttempts),")
        let error = try #require(throws: MigrationError.self) { try folder.manager() }
        #expect(error.code == .stateCorrupted)
        #expect(error.description.contains("expected \(expected) at byte"))
    }
}
