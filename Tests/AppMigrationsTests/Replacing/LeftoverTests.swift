import Foundation
import Testing

@testable import AppMigrations

/// What a replacement doesn't need any more, and can't remove, is moved aside and named once.
///
/// Without it, one file of another user would keep an app from its migration for ever. Root may remove what belongs to
/// anybody, so a process of another user tries it.
@Suite(.temporaryDirectory, .enabled(if: geteuid() == 0)) struct LeftoverTests {
    let scratch = TemporaryDirectory.current

    private static let working = ".Notes@Library.migrating"

    /// What the state says about the folder that a death has left.
    enum Situation: String, CaseIterable, Codable {
        case namedByNoState, namedByAnAttempt, namedByARecord

        var more: String {
            switch self {
            case .namedByNoState: ""
            case .namedByAnAttempt: died(in: "2.0", app: "2.0", more: #", "replacing": "../Notes""#)
            case .namedByARecord: #""workingFolder": "../.Notes@Library.migrating","#
            }
        }
    }

    @Test(arguments: Situation.allCases)
    func `what can't be removed is renamed, and named once`(situation: Situation) async {
        await #expect(processExitsWith: .success) {
            [situation = situation as Situation, path = scratch.path as String] in
            let scratch = TemporaryDirectory(path: path)
            try scratch.write("old", to: "Notes/a")
            try scratch.makeFolder("state")
            try scratch.state.writeState(lastRun: "1.0", launched: "2.0", more: situation.more)
            let folder = Self.working + "/new/Notes/sub"
            try scratch.write("others'", to: folder + "/b")
            try scratch.becomeNobody(but: folder, folder + "/b")
            let left = Log()
            let options = MigrationManager.Options(onEvent: { event in
                if event.kind == .leftoverNotRemoved { left.add(event.error?.path ?? "") }
            })
            try scratch.state.manager("2.0", options: options).whenMigrating(
                toVersion: "2.0",
                replacing: scratch.file("Notes")
            ) { copy, _ in
                try TemporaryDirectory(path: copy).write("new", to: "a")
            }
            #expect(try scratch.read("Notes/a") == "new")
            let aside = try #require(left.lines.first)
            #expect(aside.hasPrefix(scratch.file(".Notes@Library.left-2")))
            #expect(try scratch.names().count == 3 && scratch.exists(aside))
            try scratch.state.manager("2.1", options: options).whenMigrating(
                toVersion: "2.1",
                replacing: scratch.file("Notes")
            ) { _, _ in }
            #expect(left.lines.count == 1)
        }
    }

    @Test func `what can't even be renamed is refused before anything runs`() async {
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            let scratch = TemporaryDirectory(path: path)
            try scratch.write("old", to: "closed/Notes/a")
            try scratch.write("left", to: "closed/" + Self.working + "/new/Notes/a")
            let error = try errorOfReplacingInClosedFolder(of: scratch)
            #expect(error.code == .replacementFailed)
            #expect(error.path == scratch.file("closed/" + Self.working))
            #expect(error.description.contains("could not be removed: "), "\(error)")
            #expect(
                error.description.contains("Migration 2.0 was not run. Look into it, and remove it"),
                "\(error)"
            )
        }
    }
}
