import Foundation
import Testing

@testable import AppMigrations

/// A status as a program reads it.
@Suite(.temporaryDirectory) struct StatusJSONTests {
    let folder = TemporaryDirectory.current

    @Test func `a status has the names of its properties as keys, and those of the state file`() throws {
        try folder.write(MigrationStatusTests.full)
        #expect(
            try folder.look("1.1").status.json
                == #"{ "name" : "Library", "appVersion" : "1.1", "stateFile" : "\#(folder.stateFile)", "#
                + #""lastRunVersion" : "1.1-1", "baseline" : "1.0", "launchedVersion" : "1.4", "#
                + #""minimumAppVersion" : "1.2", "latestAttempt" : { "version" : "1.2", "#
                + #""attemptCount" : 3, "crashCount" : 1, "appVersion" : "1.4", "checkpoint" : "/Users/me/row 7", "#
                + #""checkpointAppVersion" : "1.3", "progress" : 0.45, "startedAt" : "2026-11-21T03:54:28Z", "#
                + #""failure" : "The disk is full.", "isUnderWay" : false }, "otherAttempts" : [ { "#
                + #""version" : "1.3", "attemptCount" : 2, "crashCount" : 2, "appVersion" : "1.4", "isUnderWay" : false } ], "#
                + #""history" : [ { "version" : "1.1", "previousVersion" : "1.0", "#
                + #""appVersion" : "1.3", "finishedAt" : "2026-11-20T03:54:28Z", "duration" : 0.0123, "attemptCount" : 1 }, "#
                + #"{ "version" : "1.1-1", "previousVersion" : "1.1", "appVersion" : "1.3", "#
                + #""finishedAt" : "2026-11-20T03:54:29Z", "duration" : 2.0, "attemptCount" : 4 } ] }"#
        )
    }

    @Test func `a status without a state has no versions but the app's`() throws {
        #expect(
            try folder.look("1.4").status.json
                == #"{ "name" : "Library", "appVersion" : "1.4", "stateFile" : "\#(folder.stateFile)", "#
                + #""otherAttempts" : [], "history" : [] }"#
        )
    }

    private struct Read: Decodable {
        struct Attempt: Decodable {
            var failure: String?
            var checkpoint: String?
            var progress: Double?
            var isUnderWay: Bool?
        }
        struct Row: Decodable { var attemptCount: Int }
        var name: String
        var latestAttempt: Attempt?
        var otherAttempts: [Attempt]
        var history: [Row]
    }

    @Test func `Foundation reads whatever a state can hold`() throws {
        var random = RandomState(generator: SeededGenerator(seed: 31))
        let name = "a \"quoted\"\n name"
        let location = StateLocation(name: name, directory: "/")
        for _ in 0..<500 {
            let state = random.state(named: name)
            let status = try MigrationStatus(state, of: location, appVersion: version("1"), isUnderWay: nil)
            let read = try JSONDecoder().decode(Read.self, from: Data(status.json.utf8))
            #expect(read.name == name)
            #expect(read.latestAttempt?.failure == status.latestAttempt?.failure)
            #expect(read.latestAttempt?.checkpoint == status.latestAttempt?.checkpoint)
            #expect(read.latestAttempt?.isUnderWay == nil)
            #expect(read.otherAttempts.map(\.progress) == status.otherAttempts.map(\.progress))
            #expect(read.history.count == status.history.count)
        }
    }
}

/// Another process, as a manager sees it by a look at the lock.
@Suite(.temporaryDirectory) struct OutsideLookTests {
    let scratch = TemporaryDirectory.current

    /// 7 where an attempt is under way, 8 where its process died.
    private static func look(_ path: String, isReadOnly: Bool) throws -> Int32 {
        let options = MigrationManager.Options(isReadOnly: isReadOnly)
        return try library("1.1", in: path, options: options).status.latestAttempt?.isUnderWay == true ? 7 : 8
    }

    @Test(arguments: [false, true])
    func `an attempt is under way as long as its process has the lock`(isReadOnly: Bool) async throws {
        let path = scratch.state.path
        try await scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") {
            await #expect(processExitsWith: .exitCode(7)) {
                [path = path as String, isReadOnly = isReadOnly as Bool] in
                _exit(try Self.look(path, isReadOnly: isReadOnly))
            }
        }
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try library("1.2", in: path).whenMigrating(toVersion: "1.2") { die() }
        }
        #expect(try Self.look(path, isReadOnly: isReadOnly) == 8)
    }

    /// The look has the lock for a moment, as a process that died may have it: neither is a reason to give up.
    @Test func `who meets a look waits for it, whatever the time-out`() throws {
        let manager = try scratch.manager(upgradingTo: "1.1", options: .init(lockTimeout: .zero))
        let lock = open(scratch.state.lockFile, O_RDONLY | O_CLOEXEC)
        try #require(flock(lock, LOCK_SH) == 0)
        let options = MigrationManager.Options(lockTimeout: .zero) { event in
            if event.kind == .waiting { close(lock) }
        }
        let waiting = try scratch.manager(upgradingTo: "1.1", options: options)
        #expect(try waiting.declare("1.1") == ["1.1"])
        #expect(try manager.declare("1.1") == [])
    }
}
