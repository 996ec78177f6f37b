import Foundation
import Testing

@testable import AppMigrations

/// Files are put back from this user's own snapshot, to where they were.
@Suite(.temporaryDirectory) struct TrustedStateTests {
    let scratch = TemporaryDirectory.current

    private static func expectRefused(_ scratch: TemporaryDirectory, _ reason: String) throws {
        let error = try #require(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        #expect(error.code == .protectionFailed)
        #expect(error.path == scratch.state.snapshot)
        let manager = "manager \"Library\" (\(scratch.state.stateFile))"
        let start = "The files that migration 1.1 protects could not be restored in \(manager): "
        #expect(error.description.hasPrefix(start + reason), "\(error)")
        #expect(try scratch.read("data") == "old\nchanged\n")
    }

    private static func foreign(_ scratch: TemporaryDirectory) -> String {
        "\(scratch.state.snapshot): Operation not permitted (open, errno 1). The copies are kept, and "
    }

    /// Only the root user may give a folder to another.
    @Test(.enabled(if: geteuid() == 0))
    func `a snapshot that is somebody else's is not put back`() async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        try #require(chown(scratch.state.snapshot, 65_534, 0) == 0)
        try Self.expectRefused(scratch, Self.foreign(scratch))
        try #require(chown(scratch.state.snapshot, 0, 65_534) == 0)
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.read("data") == "old\n")
    }

    /// The root user can read every folder.
    @Test(.enabled(if: geteuid() != 0))
    func `the error for a snapshot without permissions says what to do, and then the restore succeeds`()
        async throws
    {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        try #require(chmod(scratch.state.snapshot, 0) == 0)
        let error = try #require(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        #expect(error.code == .protectionFailed)
        let advice = "so this user needs the permissions to read it and to write to it (chmod). "
        #expect(error.description.contains(advice), "\(error)")
        try #require(chmod(scratch.state.snapshot, 0o700) == 0)
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.read("data") == "old\n")
    }

    private static func edit(_ scratch: TemporaryDirectory, _ change: (inout SnapshotList) -> Void) throws {
        var list = try #require(try SnapshotList.read(in: scratch.state.snapshot))
        change(&list)
        try Data(list.text).write(to: URL(filePath: scratch.state.snapshot + "/list"))
    }

    @Test func `the list of another manager is not put back`() async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        try Self.edit(scratch) { $0.manager = "library" }
        let list = scratch.state.snapshot + "/list"
        let reason =
            "the state says that files are to be restored, and \(list) belongs to manager \"library\". No file was restored."
        try Self.expectRefused(scratch, reason)
        try Self.edit(scratch) { $0.manager = "Library" }
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.read("data") == "old\n")
    }

    @Test(arguments: ["", "cut", "newer", "gone", "link", "large", "negative"])
    func `a list that isn't whole is not put back`(damage: String) async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        let list = scratch.state.snapshot + "/list"
        let text = try Data(contentsOf: URL(filePath: list))
        switch damage {
        case "cut": try text.dropLast(1).suffix(40).write(to: URL(filePath: list))
        case "newer": try (Data("2".utf8) + text.dropFirst()).write(to: URL(filePath: list))
        case "": try Data().write(to: URL(filePath: list))
        case "large", "negative":
            // The number of the folders up to a mount.
            var fields = text.split(separator: 0, omittingEmptySubsequences: false).map { Data($0) }
            fields[5] = Data((damage == "large" ? "9999999999999999999" : "-1").utf8)
            try Data(fields.joined(separator: [0])).write(to: URL(filePath: list))
        default:
            try FileManager.default.moveItem(atPath: list, toPath: scratch.file("away"))
            if damage == "link" { try scratch.link(list, to: scratch.file("away")) }
        }
        let error = try #require(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        #expect(error.code == .protectionFailed)
        #expect(error.path?.hasPrefix(scratch.state.snapshot) == true)
        #expect(try scratch.read("data") == "old\nchanged\n")
        #expect(try scratch.read("state/Library.migrations.snapshot/0/item") == "old\n")
    }

    /// As `chmod -R g+w` does: on Apple's systems the group of each user is `staff`.
    @Test(arguments: [0o775, 0o777, 0o1777] as [mode_t], [true, false])
    func `a closure that opens its container to others is put back`(mode: mode_t, isKilled: Bool) async throws
    {
        try scratch.write("old\n", to: "data")
        _ = try scratch.manager(upgradingTo: "1.1")
        let open = { (path: String) throws in
            for name in [
                "", "/data", "/state", "/state/Library.migrations.json", "/state/Library.migrations.lock",
                "/state/Library.migrations.snapshot", "/state/Library.migrations.snapshot/list",
            ] { try #require(chmod(path + name, mode) == 0) }
        }
        if isKilled {
            await ProtectedPathTests.die(in: scratch)
            try open(scratch.path)
            _ = try scratch.manager(upgradingTo: "1.1")
            try scratch.expectNoCopies()
        } else {
            try scratch.expectPutBack(protecting: [scratch.file("data")]) {
                try append("changed", to: scratch.file("data"))
                try open(scratch.path)
            }
        }
        #expect(try scratch.read("data") == "old\n")
        // Nor does a folder for everybody refuse the next one.
        try scratch.migrate(protecting: "data")
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

    @Test(arguments: ["data", "folder/data"], ["nothing", "something", "something, folder made"])
    func `a state that was moved alone puts nothing back elsewhere`(
        name: String,
        there: String
    ) async throws {
        let (isSomethingThere, isFolderMade) = (there != "nothing", there.hasSuffix("made"))
        try scratch.write("old\n", to: "app/" + name)
        await Self.die(scratch, protecting: scratch.file("app/" + name))
        // As seen from its new place, the list leads to another file of this name.
        if isSomethingThere { try scratch.write("unrelated\n", to: name) }
        try FileManager.default.moveItem(atPath: scratch.file("app/state"), toPath: scratch.state.path)
        // As a service manager does, which makes the folder again that a service is to have.
        if isFolderMade { try scratch.makeFolder("app/state") }
        let error = try #require(throws: MigrationError.self) { try library("1.1", in: scratch.state.path) }
        #expect(error.code == .protectionFailed)
        #expect(error.description.contains("the state was moved or copied from \(scratch.file("app/state"))"))
        #expect(try scratch.read("app/" + name) == "old\nchanged\n")
        #expect(scratch.exists(name) == isSomethingThere)
        if isSomethingThere { #expect(try scratch.read(name) == "unrelated\n") }
        if isFolderMade { try scratch.remove("app/state") }
        try FileManager.default.moveItem(atPath: scratch.state.path, toPath: scratch.file("app/state"))
        _ = try library("1.1", in: scratch.file("app/state"))
        #expect(try scratch.read("app/" + name) == "old\n")
    }

    /// As in a sandbox; the root user may look everywhere, so the process becomes another.
    @Test func `folders that moved from where this process may not look put their files back`() async throws {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            try scratch.makeFolder("closed/app/state")
            try scratch.setMode(0, of: "closed")
            try scratch.becomeNobody(but: "closed")
            try scratch.write("half", to: "app/folder/data")
            let snapshot = scratch.file("app/state/Library.migrations.snapshot")
            try scratch.write("old", to: snapshot + "/0/item")
            try scratch.makeFolder(snapshot + "/0/entries-1")
            let path = SnapshotList.Path(
                relative: "../folder/data",
                identity: nil,
                mountDistance: 0,
                folders: try ["app/folder", "app"].map { try FileStatus(ofEntry: scratch.file($0)).identity }
            )
            let former = scratch.file("closed/app/state")
            let list = SnapshotList(
                manager: "Library",
                stateFolder: former,
                snapshot: try FileStatus(ofEntry: snapshot).identity,
                paths: [path]
            )
            try Data(list.text).write(to: URL(filePath: snapshot + "/list"))
            try scratch.setMode(0o700, of: snapshot)
            try scratch.write(
                """
                { "format": 1, "name": "Library", "lastRunVersion": "1.0", "launchedVersion": "1.1", "interruption":
                  { "version": "1.1", "attempts": 1, "deaths": 0, "isProtecting": true, "appVersion": "1.1",
                    "startedAt": "2026-11-21T03:54:28Z", "failure": null } }
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
