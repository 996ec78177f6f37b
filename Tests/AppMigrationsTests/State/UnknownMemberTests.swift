import Foundation
import Testing

@testable import AppMigrations

/// Members of the state that a newer release wrote, and that this one keeps in its saves.
@Suite(.temporaryDirectory) struct UnknownMemberTests {
    let folder = TemporaryDirectory.current

    private static let first = #""hosts" :  { "a" : [ 1.50, -0e1, "]}" ],\#n    "é" : "\u00e9\/" }"#
    private static let second = #""lease":null"#
    private static let kept = "  \(first),\n  \(second),\n  \"history\" : ["

    /// A state with a member before, between and behind those of this release.
    private static func write(_ folder: TemporaryDirectory, lastRun: String, more: String = "") throws {
        try folder.write(
            """
            { \(first), "format": 1, "name": "Library", \(more) "lastRunVersion": "\(lastRun)",
              "baseline": "1.0", "launchedVersion": "\(lastRun)", "history": [] ,\t\(second) \n }
            """
        )
    }

    @Test func `each save of a migration keeps what a newer release wrote, byte for byte and in its order`()
        throws
    {
        try Self.write(folder, lastRun: "1.1")
        let manager = try folder.manager("1.4")
        #expect(try folder.stateText().contains(Self.kept), "the launch")
        try manager.whenMigrating(toVersion: "1.2") { () throws in
            #expect(try folder.stateText().contains(Self.kept), "the intent")
        }
        #expect(try folder.stateText().contains(Self.kept), "the record")
        #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.3") { throw CancellationError() }
        }
        #expect(try folder.stateText().contains(Self.kept), "the failed attempt")
        try manager.reset(to: "1.1")
        #expect(try folder.stateText().contains(Self.kept), "the reset")
        _ = try folder.forget()
        _ = try folder.manager("1.4")
        #expect(try !folder.stateText().contains("hosts"), "the state was forgotten")
    }

    @Test func `a floor and a checkpoint stand where they were written, and before the history`() throws {
        var state = StateBitFlipTests.state
        state.versions.raiseMinimumAppVersion(to: version("1.3"))
        state.versions.latestAttempt?.migration.checkpoint = Checkpoint(
            text: "row 12",
            appVersion: version("1.5"),
            progress: 0.25
        )
        let text = String(decoding: state.document, as: UTF8.self)
        #expect(
            text.contains(
                "  \"launchedVersion\" : \"\(state.versions.launched)\",\n  \"minimumAppVersion\" : \"1.3\",\n"
            )
        )
        #expect(
            text.contains(
                #", "checkpoint" : "row 12", "checkpointAppVersion" : "1.5", "progress" : 0.25, "startedAt""#
            )
        )
    }

    @Test(arguments: [
        (
            #""minimumAppVersion":"1","minimumAppVersion":"1""#,
            "a key that doesn't occur earlier in the object at byte 74"
        ),
        (#""minimumAppVersion":null"#, "a string at byte 70"),
        (
            #""otherAttempts":[{"version":"1","attemptCount":1,"crashCount":0,"appVersion":"1","progress":1.5}]"#,
            "a number from 0 to 1 at byte 142"
        ),
        (
            #""otherAttempts":[{"version":"1","attemptCount":1,"crashCount":0,"appVersion":"1","progress":-0.1}]"#,
            "a number from 0 to 1 at byte 142"
        ),
        (
            #""otherAttempts":[{"version":"1","attemptCount":1,"crashCount":0,"appVersion":"1","checkpoint":7}]"#,
            "a string at byte 144"
        ),
        (
            #""otherAttempts":[{"version":"1","attemptCount":1,"crashCount":0,"appVersion":"1","checkpoint":"x"}]"#,
            "an object with the member \"checkpointAppVersion\" at byte 67"
        ),
    ])
    func `a floor or a checkpoint that can't be read is damage, and not none`(
        members: String,
        expected: String
    ) throws {
        try folder.write(#"{"format":1,"name":"Library","lastRunVersion":"1",\#(members)}"#)
        let error = try #require(throws: MigrationError.self) { try folder.manager() }
        #expect(error.code == .stateCorrupted)
        #expect(error.description.contains("expected \(expected)."), "\(error)")
    }

    @Test func `what a newer release wrote counts into the limit of 1 MiB`() throws {
        let location = StateLocation(name: "Library", directory: folder.path)
        var state = MigrationState(name: "Library", versions: StateVersions(lastRun: version("1.4")))
        let room = (1 << 20) - state.document.count - ",\n  ".utf8.count
        let padding = Array(repeating: UInt8(ascii: " "), count: room - "\"x\":1".utf8.count)
        state.otherMembers = [.init(key: "x", text: Array("\"x\":".utf8) + padding + Array("1".utf8))]
        #expect(try state.documentToSave(at: location)?.count == 1 << 20)
        state.otherMembers = [.init(key: "x", text: Array("\"x\": ".utf8) + padding + Array("1".utf8))]
        #expect(try state.documentToSave(at: location) == nil)
    }

    @Test func `a checkpoint goes with its version, also where another version is begun first`() throws {
        func attempt(_ text: String, _ checkpoint: Checkpoint?) -> LatestAttempt {
            LatestAttempt(
                AttemptedMigration(version(text), by: version("1.4"), checkpoint: checkpoint),
                at: 0
            )
        }
        let cursor = Checkpoint(text: "row 12", appVersion: version("1.3"), progress: 0.5)
        let first = attempt("1.3", cursor)
        var versions = StateVersions()
        versions.begin(first)
        versions.begin(attempt("1.2.5", nil))
        #expect(versions.otherAttempts == [first.outcome])
        #expect(versions.attempts(at: version("1.3"))?.checkpoint == cursor)
        #expect(versions.attempts(at: version("1.2.5"))?.checkpoint == nil)
        let second = versions.latestAttempt
        let recordedFirst = versions.changed { $0.record(version("1.3")) }
        #expect(recordedFirst == StateVersions(lastRun: version("1.3"), latestAttempt: second))
        versions.record(version("1.2.5"))
        #expect(versions == StateVersions(lastRun: version("1.2.5"), otherAttempts: [first.outcome]))
    }
}
