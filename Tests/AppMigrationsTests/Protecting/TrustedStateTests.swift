import AppMigrations
import Foundation
import Testing

/// Files are put back from this user's own state, to where they were.
@Suite(.temporaryDirectory) struct TrustedStateTests {
    let scratch = TemporaryDirectory.current

    private static func expectRefused(_ scratch: TemporaryDirectory, _ path: String, _ reason: String) throws
    {
        let error = try #require(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        #expect(error.code == .protectionFailed)
        #expect(error.path == path)
        #expect(
            error.description.hasPrefix(
                "The files that migration 1.1 protects could not be put back by manager \"Library\": \(path) \(reason), and a "
                    + "list of files that somebody else wrote could overwrite any file; let it belong to this user and be "
                    + "written to by nobody else (chown, chmod go-w). Their copy in "
            ),
            "\(error)"
        )
        #expect(try scratch.read("data") == "old\nchanged\n")
    }

    static let parts = [
        "state", "state/Library.migrations.json", "state/Library.migrations.lock",
        "state/Library.migrations.snapshot",
    ]

    @Test(arguments: parts)
    func `what others may write to is not put back`(part: String) async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        let path = scratch.file(part)
        let mode = try #require(
            FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        )
        try #require(chmod(path, mode_t(mode | 0o002)) == 0)
        try Self.expectRefused(scratch, path, "can be written to by every user")
        try #require(chmod(path, mode_t(mode)) == 0)
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.read("data") == "old\n")
    }

    /// Only the root user may give a file to another.
    @Test(.enabled(if: geteuid() == 0), arguments: parts)
    func `what belongs to another user, or can be written to by a group, is not put back`(
        part: String
    ) async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        let path = scratch.file(part)
        try #require(chown(path, 65_534, 0) == 0)
        try Self.expectRefused(scratch, path, "belongs to user 65534")
        try #require(chown(path, 0, 65_534) == 0)
        let mode = try #require(
            FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        )
        try #require(chmod(path, mode_t(mode | 0o020)) == 0)
        try Self.expectRefused(scratch, path, "can be written to by group 65534")
        // A group with the number of its user is that user's own.
        try #require(chown(path, 0, 0) == 0)
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.read("data") == "old\n")
    }

    @Test func `a list that could not be put back is refused before the closure runs`() throws {
        try scratch.write("old\n", to: "data")
        let manager = try scratch.manager(upgradingTo: "1.1")
        try #require(chmod(scratch.state.path, 0o777) == 0)
        let error = try manager.refusal(protecting: scratch.file("data"))
        #expect(
            error.description
                == "The files that migration 1.1 protects could not be copied by manager \"Library\": \(scratch.state.path) can "
                + "be written to by every user, and a list of files that somebody else wrote could overwrite any file; "
                + "let it belong to this user and be written to by nobody else (chown, chmod go-w). Nothing was run and "
                + "nothing changed. Mend that and make a new manager."
        )
        // Without a list there is nothing to plant.
        try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") {}
    }

    @Test func `a folder for everybody in which each user changes only their own files will do`() async throws
    {
        try scratch.write("old\n", to: "data")
        try scratch.makeFolder("state")
        try #require(chmod(scratch.state.path, 0o1777) == 0)
        await ProtectedPathTests.die(in: scratch)
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.read("data") == "old\n")
    }

    private static func die(_ scratch: TemporaryDirectory, protecting path: String) async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [state = scratch.file("app/state") as String, path = path as String] in
            try library("1.1", in: state).whenMigrating(toVersion: "1.1", protecting: [path]) {
                try append("changed", to: path)
                kill(getpid(), SIGKILL)
            }
        }
    }

    @Test(arguments: ["data", "folder/data"], [true, false])
    func `a state that was moved alone puts nothing back elsewhere`(
        name: String,
        isSomethingThere: Bool
    ) async throws {
        try scratch.write("old\n", to: "app/" + name)
        await Self.die(scratch, protecting: scratch.file("app/" + name))
        // As seen from its new place, the list leads to another file of this name.
        if isSomethingThere { try scratch.write("unrelated\n", to: name) }
        try FileManager.default.moveItem(atPath: scratch.file("app/state"), toPath: scratch.state.path)
        let error = try #require(throws: MigrationError.self) { try library("1.1", in: scratch.state.path) }
        #expect(error.code == .protectionFailed)
        #expect(error.description.contains("the state was moved from \(scratch.file("app/state"))"))
        #expect(try scratch.read("app/" + name) == "old\nchanged\n")
        #expect(scratch.exists(name) == isSomethingThere)
        if isSomethingThere { #expect(try scratch.read(name) == "unrelated\n") }
        try FileManager.default.moveItem(atPath: scratch.state.path, toPath: scratch.file("app/state"))
        _ = try library("1.1", in: scratch.file("app/state"))
        #expect(try scratch.read("app/" + name) == "old\n")
    }

    @Test(arguments: [true, false])
    func `a copy of a state alone puts nothing back elsewhere, and one with its files does`(
        isWhole: Bool
    ) async throws {
        try scratch.write("old\n", to: "app/folder/data")
        await Self.die(scratch, protecting: scratch.file("app/folder/data"))
        try scratch.makeFolder("copy")
        for name in isWhole ? ["state", "folder"] : ["state"] {
            try FileManager.default.copyItem(
                atPath: scratch.file("app/" + name),
                toPath: scratch.file("copy/" + name)
            )
        }
        if isWhole {
            _ = try library("1.1", in: scratch.file("copy/state"))
            #expect(try scratch.read("copy/folder/data") == "old\n")
        } else {
            #expect(throws: MigrationError.self) { try library("1.1", in: scratch.file("copy/state")) }
            #expect(!scratch.exists("copy/folder"))
        }
        #expect(try scratch.read("app/folder/data") == "old\nchanged\n")
    }

    /// As in a sandbox; the root user may look everywhere, so the process becomes another.
    @Test func `folders that moved from where this process may not look put their files back`() async throws {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            try scratch.makeFolder("closed/app/state")
            try #require(chmod(scratch.file("closed"), 0) == 0)
            if geteuid() == 0 {
                try #require(chown(scratch.path, 65_534, 65_534) == 0)
                try #require(setgid(65_534) == 0 && setuid(65_534) == 0)
            }
            try scratch.write("half", to: "app/folder/data")
            try scratch.write("old", to: "app/state/Library.migrations.snapshot/0/item")
            try scratch.makeFolder("app/state/Library.migrations.snapshot/0/entries-1")
            try scratch.write(
                """
                { "format": 1, "name": "Library", "lastRunVersion": "1.0", "launchedVersion": "1.1", "interruption":
                  { "version": "1.1", "attempts": 1, "deaths": 0, "protected": ["../folder/data"], "appVersion": "1.1",
                    "stateDirectory": "\(scratch.file("closed/app/state"))", "startedAt": "2026-11-21T03:54:28Z",
                    "failure": null } }
                """,
                to: "app/state/Library.migrations.json"
            )
            _ = try library("1.1", in: scratch.file("app/state"))
            #expect(try scratch.read("app/folder/data") == "old")
        }
    }

    @Test func `folders that moved as a whole put their files back, also where the closure removed them`()
        async throws
    {
        try scratch.write("old\n", to: "app/folder/data")
        await Self.die(scratch, protecting: scratch.file("app/folder/data"))
        try FileManager.default.moveItem(atPath: scratch.file("app"), toPath: scratch.file("app 2"))
        try scratch.remove("app 2/folder")
        _ = try library("1.1", in: scratch.file("app 2/state"))
        #expect(try scratch.read("app 2/folder/data") == "old\n")
        #expect(!scratch.exists("app"))
    }
}
