import Foundation
import Testing

@testable import AppMigrations

/// What an app sends, through Foundation's coders.
@Suite(.temporaryDirectory) struct CodableValuesTests {
    let folder = TemporaryDirectory.current

    private func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func read<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// What is written, read and written again is the same.
    private func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
        let written = try text(value)
        let again = try read(written, as: Value.self)
        #expect(try text(again) == written)
        return again
    }

    @Test func `a row of the history has the shape that it has in the state file`() throws {
        let row = AppliedMigration(
            version: version("1.2.5"),
            previousVersion: version("1.1"),
            appVersion: version("1.4"),
            finishedAt: 1_795_233_268,
            duration: .nanoseconds(12_300_000),
            attempts: 2
        )
        #expect(
            try text(row)
                == #"{"appVersion":"1.4","attempts":2,"duration":0.0123,"finishedAt":"2026-11-21T03:54:28Z","#
                + #""previousVersion":"1.1","version":"1.2.5"}"#
        )
        #expect(try roundTrip(row) == row)
    }

    @Test func `rows of every shape come back`() throws {
        var random = RandomState(generator: SeededGenerator(seed: 14))
        for _ in 1...200 {
            for row in random.state(named: "Library").history { #expect(try roundTrip(row) == row) }
        }
    }

    @Test(arguments: [
        ("\"version\":\"x\"", "a version"), ("\"finishedAt\":\"yesterday\"", "a time"),
        ("\"finishedAt\":1795233268", "a time that is a number"), ("\"duration\":-1", "duration"),
        ("\"duration\":1e13", "too many seconds"), ("\"attempts\":\"2\"", "a number"),
        ("\"x\":1", "a member"),
    ])
    func `a row that can't be is refused`(member: String, what: String) throws {
        let whole = [
            "\"version\":\"1.2\"", "\"previousVersion\":\"1.1\"", "\"appVersion\":\"1.4\"",
            "\"finishedAt\":\"2026-11-21T03:54:28Z\"", "\"duration\":1", "\"attempts\":1",
        ]
        _ = try read("{\(whole.joined(separator: ","))}", as: AppliedMigration.self)
        let key = member.prefix { $0 != ":" }
        let isReplacing = whole.contains { $0.hasPrefix(key) }
        let members = isReplacing ? whole.filter { !$0.hasPrefix(key) } + [member] : Array(whole.dropFirst())
        #expect(throws: DecodingError.self, "\(what)") {
            try read("{\(members.joined(separator: ","))}", as: AppliedMigration.self)
        }
        for missing in whole.indices {
            var members = whole
            members.remove(at: missing)
            #expect(throws: DecodingError.self, "without \(whole[missing])") {
                try read("{\(members.joined(separator: ","))}", as: AppliedMigration.self)
            }
        }
    }

    @Test(arguments: [
        (PlannedMigration.Kind.willRun, "willRun"), (.alreadyRun, "alreadyRun"), (.baseline, "baseline"),
        (.missed, "missed"), (.heldByDowngrade, "heldByDowngrade"), (.refused, "refused"),
    ])
    func `a planned migration is sent with its kind's name, and without its error`(
        kind: PlannedMigration.Kind,
        name: String
    ) throws {
        let error = kind == .refused ? MigrationError.invalidName("", length: 0) : nil
        let row = PlannedMigration(kind: kind, version: version("1.1-2"), progress: nil, error: error)
        #expect(try text(row) == "{\"kind\":\"\(name)\",\"version\":\"1.1-2\"}")
        let again = try roundTrip(row)
        #expect(again.kind == kind)
        #expect(again.version == version("1.1-2"))
        #expect(again.error == nil)
        let begun = PlannedMigration(kind: kind, version: version("1.1-2"), progress: 0.25, error: nil)
        #expect(try text(begun) == "{\"kind\":\"\(name)\",\"progress\":0.25,\"version\":\"1.1-2\"}")
        #expect(try roundTrip(begun).progress == 0.25)
    }

    @Test(arguments: [
        (MigrationEvent.Kind.waiting, "waiting"), (.started, "started"), (.progressed, "progressed"),
        (.finished, "finished"), (.failed, "failed"), (.restored, "restored"),
        (.launchNotSaved, "launchNotSaved"), (.leftoverNotRemoved, "leftoverNotRemoved"),
    ])
    func `an event is sent with its kind's name`(kind: MigrationEvent.Kind, name: String) throws {
        #expect(try text(MigrationEvent(kind, "Library")) == "{\"kind\":\"\(name)\",\"name\":\"Library\"}")
        let again = try roundTrip(MigrationEvent(kind, "Library"))
        #expect(again.kind == kind)
        #expect(again.managerName == "Library")
        #expect(again.version == nil && again.fraction == nil && again.duration == nil && again.note == nil)
    }

    @Test func `an event is sent with what it has, but for its error`() throws {
        let event = MigrationEvent(
            .failed,
            "Library",
            version: version("1.4"),
            previousVersion: version("1.1-2"),
            attempt: 2,
            fraction: 0.25,
            note: "\"1/4\"",
            duration: .milliseconds(1_500),
            error: .invalidName("", length: 0)
        )
        #expect(
            try text(event)
                == #"{"attempt":2,"duration":1.5,"fraction":0.25,"kind":"failed","name":"Library","#
                + #""note":"\"1/4\"","previousVersion":"1.1-2","version":"1.4"}"#
        )
        let again = try roundTrip(event)
        #expect(again.version == version("1.4"))
        #expect(again.previousVersion == version("1.1-2"))
        #expect(again.attempt == 2)
        #expect(again.fraction == 0.25)
        #expect(again.note == "\"1/4\"")
        #expect(again.duration == .milliseconds(1_500))
        #expect(again.error == nil)
    }

    @Test func `a kind that isn't known is refused, and says which`() throws {
        let plan = #expect(throws: DecodingError.self) {
            try read(#"{"kind":"willFly","version":"1.1"}"#, as: PlannedMigration.self)
        }
        let event = #expect(throws: DecodingError.self) {
            try read(#"{"kind":"Started","name":"Library"}"#, as: MigrationEvent.self)
        }
        for (error, name) in [(plan, "willFly"), (event, "Started")] {
            guard case .dataCorrupted(let context) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(context.debugDescription == "\"\(name)\" is no kind that this release knows")
            #expect(context.codingPath.map(\.stringValue) == ["kind"])
        }
    }

    @Test func `a status has the keys of the state file, and comes back`() throws {
        try folder.write(MigrationStatusTests.full)
        let status = try folder.look("1.1").status
        #expect(
            try text(status)
                == #"{"appVersion":"1.1","attempted":[{"appVersion":"1.4","attempts":2,"awaitsRestore":false,"#
                + #""deaths":2,"isUnderWay":false,"version":"1.3"}],"baseline":"1.0","history":["#
                + #"{"appVersion":"1.3","attempts":1,"duration":0.0123,"finishedAt":"2026-11-20T03:54:28Z","#
                + #""previousVersion":"1.0","version":"1.1"},{"appVersion":"1.3","attempts":4,"duration":2,"#
                + #""finishedAt":"2026-11-20T03:54:29Z","previousVersion":"1.1","version":"1.1-1"}],"#
                + #""interruption":{"appVersion":"1.4","attempts":3,"awaitsRestore":false,"#
                + #""checkpoint":"/Users/me/row 7","checkpointAppVersion":"1.3","deaths":1,"#
                + #""failure":"The disk is full.","isUnderWay":false,"progress":0.45,"#
                + #""startedAt":"2026-11-21T03:54:28Z","version":"1.2"},"lastRunVersion":"1.1-1","#
                + #""launchedVersion":"1.4","minimumAppVersion":"1.2","name":"Library","requiredAppVersion":"1.2","#
                + #""stateFile":"\#(folder.stateFile)"}"#
        )
        #expect(try roundTrip(status).description == status.description)
    }

    @Test(arguments: [("2026-11-21T03:54:28Z", true), ("2026-02-30T03:54:28Z", false), ("", false)])
    func `an attempt that began at no time is refused`(time: String, isRead: Bool) throws {
        let text = """
            { "version": "1.2", "attempts": 1, "deaths": 0, "appVersion": "1.4", "awaitsRestore": false, "startedAt": "\(time)" }
            """
        if isRead {
            #expect(try read(text, as: MigrationStatus.Attempt.self).startedAt == 1_795_233_268)
        } else {
            #expect(throws: DecodingError.self) { try read(text, as: MigrationStatus.Attempt.self) }
        }
    }

    @Test func `a status without a state comes back`() throws {
        let status = try folder.look("1.4").status
        #expect(
            try text(status) == #"{"appVersion":"1.4","attempted":[],"history":[],"name":"Library","#
                + #""stateFile":"\#(folder.stateFile)"}"#
        )
        #expect(try !roundTrip(status).hasState)
    }

    @Test(arguments: [
        "baseline", "launchedVersion", "stateFile", "name", "appVersion", "attempted", "history",
    ])
    func `a status that lacks a member is refused`(key: String) throws {
        try folder.write(MigrationStatusTests.full)
        let data = try JSONEncoder().encode(folder.look("1.4").status)
        var members = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        members[key] = nil
        let rest = try JSONSerialization.data(withJSONObject: members)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(MigrationStatus.self, from: rest) }
    }
}
