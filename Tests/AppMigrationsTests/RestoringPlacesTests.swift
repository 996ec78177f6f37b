import AppMigrations
import Foundation
import Testing

/// What is put back comes to where it was, wherever the state lies and whatever the closure left.
@Suite struct RestoringPlacesTests {
    private static func manager(_ directory: String) throws -> MigrationManager {
        try MigrationManager(
            named: "Library",
            currentVersion: "1.1",
            firstRun: .everything,
            stateDirectory: directory
        )
    }

    static let spellings = [
        "app/state", "app/state/", "app/state//", "app/state/.", "app//state", "app/../app/state", "link",
        "link/",
        "app/state/link",
    ]

    @Test(arguments: spellings)
    func `a state directory may be written in any way, and be a link`(directory: String) throws {
        try Scratch.with { scratch throws in
            try scratch.makeFolder("app/state")
            try scratch.makeFolder("disk/deep/state")
            try scratch.link("link", to: "disk/deep/state")
            try scratch.link("app/state/link", to: "../../disk/deep/state")
            let paths = ["app/data", "app/made", "disk/deep/data"].map { scratch.file($0) }
            for path in [paths[0], paths[2], scratch.file("disk/made"), scratch.file("made")] {
                try Data("old".utf8).write(to: URL(fileURLWithPath: path))
            }
            let error = try #require(throws: MigrationError.self) {
                let manager = try Self.manager(scratch.file(directory))
                try manager.whenMigrating(toVersion: "1.1", protecting: Array(paths[..<2])) {
                    for path in paths { try Data("half".utf8).write(to: URL(fileURLWithPath: path)) }
                    throw Refusal()
                }
            }
            #expect(error.code == .migrationFailed)
            #expect(try scratch.read("app/data") == "old")
            #expect(!scratch.exists("app/made"))
            #expect(try scratch.read("disk/deep/data") == "half")
            #expect(try scratch.read("disk/made") + scratch.read("made") == "oldold")
            #expect(try scratch.names("app").sorted() == ["data", "state"])
        }
    }

    @Test(arguments: ["app/state/", "link"])
    func `the next start finds the files again`(directory: String) async throws {
        try await Scratch.with { scratch async throws in
            try scratch.makeFolder("app/state")
            try scratch.makeFolder("disk/deep/state")
            try scratch.link("link", to: "disk/deep/state")
            try scratch.write("old\n", to: "app/data")
            let folder = scratch.file(directory)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [folder = folder as String, path = scratch.path as String] in
                let manager = try Self.manager(folder)
                try manager.whenMigrating(toVersion: "1.1", protecting: [path + "/app/data"]) {
                    try append("changed", to: path + "/app/data")
                    die()
                }
            }
            _ = try Self.manager(folder)
            #expect(try scratch.read("app/data") == "old\n")
        }
    }

    @Test func `a state directory under a link that leads nowhere is an error`() throws {
        try Scratch.with { scratch throws in
            try scratch.link("link", to: scratch.file("nowhere/at/all"))
            let error = #expect(throws: MigrationError.self) { try Self.manager(scratch.file("link/sub")) }
            #expect(error?.code == .stateNotSaved)
            #expect(error?.description.contains("No such file or directory (mkdir, errno 2)") == true)
        }
    }

    @Test func `a folder that became a link to nowhere keeps the copy`() throws {
        try Scratch.with { scratch throws in
            try scratch.write("old", to: "data/inner/file")
            let error = try FileSnapshotTests.fail(scratch, protecting: [scratch.file("data/inner/file")]) {
                try scratch.delete("data")
                try scratch.link("data", to: scratch.file("nowhere"))
            }
            #expect(error.code == .protectionFailed)
            #expect(throws: MigrationError.self) { try scratch.manager("1.1") }
            try scratch.delete("data")
            _ = try scratch.manager("1.1")
            #expect(try scratch.read("data/inner/file") == "old")
        }
    }

    #if os(Linux)
    /// A name that is no text, as a program with another encoding makes it.
    private static func makeStrange(_ folder: String, isFolder: Bool = false) throws {
        let path = Array((folder + "/caf").utf8CString.dropLast()) + [-23, 0]
        if isFolder { return try #require(mkdir(path, 0o700) == 0) }
        let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
        try #require(descriptor >= 0)
        close(descriptor)
    }

    @Test func `a name beside the state that is no text hinders nobody`() throws {
        try Scratch.with { scratch throws in
            try scratch.write("old", to: "data")
            try scratch.makeFolder("state")
            try Self.makeStrange(scratch.state)
            let isRun = try scratch.manager("1.1")
                .whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {}
            #expect(isRun)
        }
    }

    @Test(arguments: [true, false])
    func `what the closure made goes, even if its name is no text`(isFolder: Bool) throws {
        try Scratch.with { scratch throws in
            try scratch.write("old", to: "data/file")
            let error = try FileSnapshotTests.fail(scratch, protecting: [scratch.file("data")]) {
                try scratch.write("half", to: "data/file")
                try Self.makeStrange(scratch.file("data"), isFolder: isFolder)
                try scratch.write("new", to: "data/1-1")
            }
            try FileSnapshotTests.expectPutBack(error, scratch)
            #expect(try scratch.names("data") == ["file"])
            #expect(try scratch.read("data/file") == "old")
        }
    }

    @Test func `files too large to be added up are too large for the disk`() throws {
        try Scratch.with(in: Scratch.memory) { scratch throws in
            for name in ["a", "b", "c"] {
                let path = try scratch.write("", to: "data/" + name)
                // Where a file can't be so long, three short ones have room.
                guard truncate(path, .max) == 0 else { return }
            }
            let error = try FileSnapshotTests.fail(scratch, protecting: [scratch.file("data")]) {
                Issue.record("The closure ran.")
            }
            #expect(error.description.contains("are missing"))
        }
    }

    /// Root gives its rights away; without them there is no folder of somebody else's to write to.
    @Test func `a folder that is somebody else's keeps its owner and gets its files`() async throws {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            try scratch.write("old", to: "data/file")
            if geteuid() == 0 {
                for path in [scratch.path, scratch.file("data/file")] {
                    try #require(chown(path, 65_534, 65_534) == 0)
                }
                try #require(chown(scratch.file("data"), 0, 65_534) == 0)
                try #require(chmod(scratch.file("data"), 0o770) == 0)
                try #require(setgroups(0, nil) == 0 && setgid(65_534) == 0 && setuid(65_534) == 0)
            }
            let error = try FileSnapshotTests.fail(scratch, protecting: [scratch.file("data")]) {
                try scratch.delete("data/file")
                try scratch.write("half", to: "data/other")
            }
            try FileSnapshotTests.expectPutBack(error, scratch)
            #expect(try scratch.names("data") == ["file"])
        }
    }
    #endif
}
