import AppMigrations
import Foundation
import Testing

/// Paths are bytes: whatever a file is called, it comes back or is refused before anything runs.
@Suite(.temporaryDirectory) struct ProtectedNameTests {
    let scratch = TemporaryDirectory.current

    @Test(arguments: ["gone/../data", "gone/../../data", "tree/gone/./../a"])
    func `a path through a folder that is not there is refused`(path: String) throws {
        try scratch.write("old", to: "data")
        try scratch.write("old", to: "tree/a")
        let error = try FileSnapshotTests.fail(scratch, protecting: [scratch.path + "/" + path]) {
            Issue.record("The closure ran.")
        }
        #expect(error.code == .protectionFailed)
        #expect(error.description.contains("it leads through a folder that is not there"))
        #expect(try scratch.read("data") + scratch.read("tree/a") == "oldold")
    }

    @Test(arguments: ["docs\u{600}", "docs\u{301}", "docs\u{110BD}"])
    func `a folder comes back whose last character takes the slash along`(name: String) throws {
        try scratch.write("a", to: "\(name)/a")
        try scratch.write("b", to: "\(name)/inner\u{600}/b")
        try FileSnapshotTests.expectPutBack(scratch, protecting: [scratch.file(name)]) {
            try scratch.write("half", to: "\(name)/a")
            try scratch.remove("\(name)/inner\u{600}/b")
        }
        #expect(try scratch.read("\(name)/a") + scratch.read("\(name)/inner\u{600}/b") == "ab")
    }

    // Apple's file systems take both names for one.
    #if os(Linux)
    @Test func `two names that are equal as strings are two files`() throws {
        let names = ["caf\u{E9}", "cafe\u{301}"]
        for name in names { try scratch.write(name, to: name) }
        try FileSnapshotTests.expectPutBack(scratch, protecting: names.map { scratch.file($0) }) {
            for name in names { try scratch.write("half", to: name) }
        }
        for name in names { #expect(Array(try scratch.read(name).utf8) == Array(name.utf8)) }
    }
    #endif

    @Test(arguments: ["", "..", "../state"])
    func `a list edited by hand removes neither the state directory nor what it lies in`(entry: String) throws
    {
        try scratch.makeFolder("state/Library.migrations.snapshot/0")
        try scratch.write("mine", to: "state/other")
        let state = """
            { "format": 1, "name": "Library", "lastRunVersion": "1.0", "baseline": "1.0", "launchedVersion": "1.1",
              "interruption": { "version": "1.1", "attempts": 1, "deaths": 0, "protected": ["\(entry)"],
                "appVersion": "1.1", "startedAt": "2026-11-21T03:54:28Z", "failure": null }, "history": [] }
            """
        try scratch.write(state, to: "state/Library.migrations.json")
        let error = #expect(throws: MigrationError.self) { () throws in
            _ = try scratch.manager(upgradingTo: "1.1")
        }
        #expect(error?.code == .protectionFailed)
        #expect(try scratch.read("state/other") == "mine")
        #expect(try scratch.read("state/Library.migrations.json") == state)
    }
}
