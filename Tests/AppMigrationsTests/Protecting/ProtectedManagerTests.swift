import Foundation
import Testing

@testable import AppMigrations

/// Two managers and the same protected files: what one records the other must not undo.
@Suite(.temporaryDirectory) struct ProtectedManagerTests {
    let scratch = TemporaryDirectory.current

    private static func other(_ scratch: TemporaryDirectory, _ name: String = "Other") throws
        -> MigrationManager
    {
        try MigrationManager(
            named: name,
            currentVersion: "1.1",
            firstRun: .everything,
            stateDirectory: scratch.state.path
        )
    }

    private static func expectRefused(
        _ manager: MigrationManager,
        protecting path: String,
        _ reason: String
    ) throws {
        let error = try manager.refusal(protecting: path)
        #expect(error.description.contains(reason), "\(error)")
    }

    @Test(arguments: ["data/file", "data", ""])
    func `files that a closure protects can't be protected by another manager inside it`(place: String) throws
    {
        try scratch.write("old", to: "top/data/file")
        let path = scratch.file("top" + (place.isEmpty ? "" : "/" + place))
        let inner = try Self.other(scratch)
        let copied = scratch.file("top/data")
        try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1", protecting: [copied]) {
            let named = try scratch.resolved("top/data")
            let reason =
                "manager \"Library\" has copied \(named) for its migration 1.1, which has not ended"
            try Self.expectRefused(inner, protecting: path, reason)
        }
        try Self.other(scratch).whenMigrating(toVersion: "1.1", protecting: [path]) {}
    }

    @Test func `a manager is found whatever its name`() throws {
        try scratch.write("old", to: "data")
        let outer = try Self.other(scratch, "-z._9")
        try outer.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
            for name in ["Library", "-Z._9"] {
                let reason = #"manager "-z._9" has copied"#
                try Self.expectRefused(
                    try Self.other(scratch, name),
                    protecting: scratch.file("data"),
                    reason
                )
            }
        }
    }

    @Test func `other files can be`() throws {
        try scratch.write("old", to: "data")
        try scratch.write("old", to: "database")
        let inner = try Self.other(scratch)
        try scratch.manager(upgradingTo: "1.1").whenMigrating(
            toVersion: "1.1",
            protecting: [scratch.file("data")]
        ) {
            try inner.whenMigrating(toVersion: "1.1", protecting: [scratch.file("database")]) {}
        }
        #expect(inner.lastRunVersion.description == "1.1")
    }

    /// Between the first look and the intent lies all the copying.
    @Test func `of two managers that copy the same file at once only one runs`() throws {
        try scratch.write("old", to: "data")
        let (inClosure, mayEnd, ended) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let inner = try Self.other(scratch)
        let hook = RehearsalHook(
            declared: { _ in .continue },
            reached: { moment in
                guard moment.place == .beforeIntent else { return }
                Thread.detachNewThread {
                    do {
                        try inner.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
                            inClosure.signal()
                            mayEnd.wait()
                            try scratch.write("new", to: "data")
                        }
                    } catch { Issue.record(error) }
                    ended.signal()
                }
                inClosure.wait()
            },
            returned: { _ in nil }
        )
        let manager = MigrationManager(rehearsing: try scratch.manager(upgradingTo: "1.1"), with: hook)
        try Self.expectRefused(manager, protecting: scratch.file("data"), "make that manager first")
        #expect(try !scratch.read("state/Library.migrations.json").contains("interruption"))
        #expect(!scratch.exists("state/Library.migrations.snapshot"))
        mayEnd.signal()
        ended.wait()
        try scratch.manager(upgradingTo: "1.1").whenMigrating(
            toVersion: "1.1",
            protecting: [scratch.file("data")]
        ) {
            () throws in #expect(try scratch.read("data") == "new")
        }
    }

    @Test func `files that wait to be put back can't be protected before`() async throws {
        try scratch.write("old\n", to: "data")
        let inner = try Self.other(scratch)
        await ProtectedPathTests.die(in: scratch)
        try Self.expectRefused(inner, protecting: scratch.file("data"), "make that manager first")
        _ = try scratch.manager(upgradingTo: "1.1")
        try Self.other(scratch).whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
            () throws in
            #expect(try scratch.read("data") == "old\n")
        }
    }

    @Test func `another manager's state that can't be read protects nobody's files`() async throws {
        try scratch.write("old\n", to: "data")
        let inner = try Self.other(scratch)
        await ProtectedPathTests.die(in: scratch)
        try scratch.write("{", to: "state/Library.migrations.json")
        let reason = "Library.migrations.json: The state of"
        try Self.expectRefused(inner, protecting: scratch.file("else"), reason)
    }

    @Test func `a folder that holds the state of a manager is refused`() throws {
        try scratch.write("old", to: "data/notes")
        let inside = scratch.file("data/in")
        _ = try MigrationManager(named: "Inner", currentVersion: "1", stateDirectory: inside)
        for path in ["data", "data/in/Inner.migrations.json"] {
            try Self.expectRefused(
                try scratch.manager(upgradingTo: "1.1"),
                protecting: scratch.file(path),
                "the state of a manager is in it, \(inside)/Inner.migrations.json"
            )
        }
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
    }

    @Test(arguments: ["my%20data", "caf%C3%A9", "caf%c3%a9/my%20data"])
    func `a path that still has its URL's escapes is refused`(path: String) throws {
        try scratch.write("old", to: try #require(path.removingPercentEncoding))
        try Self.expectRefused(
            try scratch.manager(upgradingTo: "1.1"),
            protecting: scratch.file(path),
            "it has the escapes of a URL, and \(scratch.file(path)) isn't there: take path(percentEncoded: false) of the URL"
        )
    }

    @Test(arguments: ["100%", "5%zz", "%2", "a%20b", "%FF", "%e2%82"])
    func `a percent sign in a name is a name`(name: String) throws {
        try scratch.write("old", to: name)
        if let decoded = name.removingPercentEncoding { try scratch.write("other", to: decoded) }
        try FileSnapshotTests.expectPutBack(scratch, protecting: [scratch.file(name)]) {
            try scratch.write("half", to: name)
        }
        #expect(try scratch.read(name) == "old")
    }
}
