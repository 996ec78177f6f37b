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

    @Test(arguments: [true, false])
    func `putting files back, and giving that up, keep what a newer release wrote`(isAbandoned: Bool)
        async throws
    {
        try folder.write("old\n", to: "data")
        await ProtectedPathTests.die(in: folder)
        let state = "state/Library.migrations.json"
        try folder.write("{ \(Self.first),\(Self.second)," + folder.read(state).dropFirst(), to: state)
        if isAbandoned {
            _ = try MigrationManager.abandonRestore(named: "Library", stateDirectory: folder.state.path)
        } else {
            _ = try folder.manager(upgradingTo: "1.1")
            #expect(try folder.read("data") == "old\n")
        }
        #expect(try folder.read(state).contains(Self.kept))
        #expect(try folder.read(state).contains("\"isProtecting\" : false"))
    }

    @Test func `a floor and a checkpoint stand where they were written, and before the history`() throws {
        let cursor = Checkpoint(text: "row 12", appVersion: version("1.5"), progress: 0.25)
        let known = StateBitFlipTests.interruption.attempt.with(deaths: 1, checkpoint: cursor)
        let attempt = StateBitFlipTests.interruption.with(attempt: known, failure: nil)
        let state = StateBitFlipTests.state.with {
            $0.with(minimumAppVersion: version("1.3")).with(interruption: attempt, attempted: [])
        }
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
            #""attempted":[{"version":"1","attempts":1,"deaths":0,"appVersion":"1","progress":1.5}]"#,
            "a number from 0 to 1 at byte 130"
        ),
        (
            #""attempted":[{"version":"1","attempts":1,"deaths":0,"appVersion":"1","progress":-0.1}]"#,
            "a number from 0 to 1 at byte 130"
        ),
        (
            #""attempted":[{"version":"1","attempts":1,"deaths":0,"appVersion":"1","checkpoint":7}]"#,
            "a string at byte 132"
        ),
        (
            #""attempted":[{"version":"1","attempts":1,"deaths":0,"appVersion":"1","checkpoint":"x"}]"#,
            "an object with the member \"checkpointAppVersion\" at byte 63"
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

    @Test func `what a newer release wrote counts into the limit of 1 MiB`() {
        let alone = StateBitFlipTests.state.with(history: []) { $0 }
        let room = (1 << 20) - alone.document.count
        let members = Array<UInt8>(repeating: 0x20, count: room)
        let state = alone.replacing(unknownMembers: members)
        #expect(state.documentToSave == state.document)
        #expect(state.replacing(unknownMembers: members + [0x20]).documentToSave == nil)
    }

    @Test func `a checkpoint goes with its version, also where another version is begun first`() throws {
        func attempt(_ text: String, _ checkpoint: Checkpoint?) -> Interruption {
            Interruption(AttemptedMigration(version(text), by: version("1.4"), checkpoint: checkpoint), at: 0)
        }
        let cursor = Checkpoint(text: "row 12", appVersion: version("1.3"), progress: 0.5)
        let first = attempt("1.3", cursor)
        let versions = StateVersions().addingAttempt(first).addingAttempt(attempt("1.2.5", nil))
        let waiting = versions.with(interruption: nil, attempted: [first.outcome])
        #expect(versions.with(interruption: nil, attempted: versions.attempted) == waiting)
        #expect(versions.attempts(at: version("1.3"))?.checkpoint?.text == "row 12")
        #expect(versions.attempts(at: version("1.2.5"))?.checkpoint == nil)
        #expect(versions.raisingLastRun(to: version("1.2.5")) == waiting.with(lastRun: version("1.2.5")))
        let passedOver = versions.with(interruption: versions.interruption, attempted: [])
        #expect(versions.raisingLastRun(to: version("1.3")) == passedOver.with(lastRun: version("1.3")))
    }
}
