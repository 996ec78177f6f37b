import Foundation
import Testing

@testable import AppMigrations

/// Paths are bytes: whatever a file is called, it comes back or is refused before anything runs.
@Suite(.temporaryDirectory) struct ProtectedNameTests {
    let scratch = TemporaryDirectory.current

    @Test(arguments: ["gone/../data", "gone/../../data", "tree/gone/./../a"])
    func `a path through a folder that is not there is refused`(path: String) throws {
        try scratch.write("old", to: "data")
        try scratch.write("old", to: "tree/a")
        let error = try scratch.fail(protecting: [scratch.path + "/" + path]) {
            Issue.record("The closure ran.")
        }
        #expect(error.code == .protectionFailed)
        #expect(error.description.contains("\".\" or \"..\" follows a folder in it that doesn't exist"))
        #expect(try scratch.read("data") + scratch.read("tree/a") == "oldold")
    }

    @Test(arguments: ["docs\u{600}", "docs\u{301}", "docs\u{110BD}"], ["", "/"])
    func `a folder comes back whose last character takes the slash along`(name: String, end: String) throws {
        try scratch.write("a", to: "\(name)/a")
        try scratch.write("b", to: "\(name)/inner\u{600}/b")
        try scratch.expectPutBack(protecting: [scratch.file(name) + end]) {
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
        try scratch.expectPutBack(protecting: names.map { scratch.file($0) }) {
            for name in names { try scratch.write("half", to: name) }
        }
        for name in names { #expect(Array(try scratch.read(name).utf8) == Array(name.utf8)) }
    }
    #endif

    @Test(arguments: ["my%20data", "caf%C3%A9", "caf%c3%a9/my%20data"])
    func `a path that still has its URL's escapes is refused`(path: String) throws {
        try scratch.write("old", to: try #require(path.removingPercentEncoding))
        let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: scratch.file(path))
        let reason = "/\(path) doesn't exist: pass path(percentEncoded: false) of the URL, or create"
        #expect(error.description.contains("it has the escapes of a URL, and /"), "\(error)")
        #expect(error.description.contains(reason), "\(error)")
    }

    @Test(arguments: ["100%", "5%zz", "%2", "a%20b", "%FF", "%e2%82" + String(repeating: "x", count: 249)])
    func `a name with a percent sign is a name, and so is the longest`(name: String) throws {
        try scratch.write("old", to: name)
        if let decoded = name.removingPercentEncoding { try scratch.write("other", to: decoded) }
        try scratch.expectPutBack(protecting: [scratch.file(name)]) { try scratch.write("half", to: name) }
        #expect(try scratch.read(name) == "old")
    }

    @Test(arguments: ["", "..", "../state"])
    func `a list edited by hand removes neither the state directory nor what it lies in`(entry: String)
        async throws
    {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        try scratch.write("mine", to: "state/other")
        var list = try #require(try SnapshotList.read(in: scratch.state.snapshot))
        list.paths[0].relative = entry
        try Data(list.text).write(to: URL(filePath: scratch.state.snapshot + "/list"))
        let state = try scratch.read("state/Library.migrations.json")
        let error = #expect(throws: MigrationError.self) { () throws in
            _ = try scratch.manager(upgradingTo: "1.1")
        }
        #expect(error?.code == .protectionFailed)
        #expect(try scratch.read("state/other") == "mine")
        #expect(try scratch.read("state/Library.migrations.json") == state)
    }
}
