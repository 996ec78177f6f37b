import AppMigrations
import Foundation
import Testing

/// What is put back comes to where it was, wherever the state lies and whatever the closure left.
@Suite(.temporaryDirectory) struct RestoringPlacesTests {
    let scratch = TemporaryDirectory.current

    static let spellings = [
        "app/state", "app/state/", "app/state//", "app/state/.", "app//state", "app/../app/state", "link",
        "link/",
        "app/state/link",
    ]

    @Test(arguments: spellings)
    func `a state directory may be written in any way, and be a link`(directory: String) throws {
        try scratch.makeFolder("app/state")
        try scratch.makeFolder("disk/deep/state")
        try scratch.link("link", to: "disk/deep/state")
        try scratch.link("app/state/link", to: "../../disk/deep/state")
        let paths = ["app/data", "app/made", "disk/deep/data"].map { scratch.file($0) }
        for path in [paths[0], paths[2], scratch.file("disk/made"), scratch.file("made")] {
            try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        }
        let error = try #require(throws: MigrationError.self) {
            let manager = try library("1.1", in: scratch.file(directory))
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

    @Test(arguments: ["app/state/", "link"])
    func `the next start finds the files again`(directory: String) async throws {
        try scratch.makeFolder("app/state")
        try scratch.makeFolder("disk/deep/state")
        try scratch.link("link", to: "disk/deep/state")
        try scratch.write("old\n", to: "app/data")
        let folder = scratch.file(directory)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder as String, path = scratch.path as String] in
            let manager = try library("1.1", in: folder)
            try manager.whenMigrating(toVersion: "1.1", protecting: [path + "/app/data"]) {
                try append("changed", to: path + "/app/data")
                die()
            }
        }
        _ = try library("1.1", in: folder)
        #expect(try scratch.read("app/data") == "old\n")
    }

    @Test func `a state directory under a link that leads nowhere is an error`() throws {
        try scratch.link("link", to: scratch.file("nowhere/at/all"))
        let error = #expect(throws: MigrationError.self) { try library("1.1", in: scratch.file("link/sub")) }
        #expect(error?.code == .stateNotSaved)
        #expect(error?.description.contains("No such file or directory (mkdir, errno 2)") == true)
    }

    @Test(arguments: ["file", "link to nowhere", "link to a file"])
    func `what took the place of the folder that holds a file`(kind: String) throws {
        try scratch.write("old", to: "data/inner/file")
        try scratch.write("other", to: "other/one")
        try FileSnapshotTests.expectPutBack(scratch, protecting: [scratch.file("data/inner/file")]) {
            try scratch.remove("data/inner")
            switch kind {
            case "file": try scratch.write("new", to: "data/inner")
            case "link to nowhere": try scratch.link("data/inner", to: scratch.file("nowhere"))
            default: try scratch.link("data/inner", to: scratch.file("other/one"))
            }
        }
        #expect(try scratch.read("data/inner/file") == "old")
        #expect(try scratch.read("other/one") == "other")
    }

    @Test(arguments: ["data/inner", "data"])
    func `a link above that is there since and leads to a folder is not followed`(name: String) throws {
        let path = try scratch.write("old", to: "data/inner/file")
        try scratch.write("other", to: "other/inner/file")
        try scratch.write("other", to: "other/file")
        let error = try FileSnapshotTests.fail(scratch, protecting: [path]) {
            try scratch.remove(name)
            try scratch.link(name, to: scratch.file("other"))
        }
        #expect(error.code == .protectionFailed)
        let link = try scratch.resolved(name)
        #expect(error.path == link)
        let reason =
            ": \(link) is a link that was put there since the copy was made; "
            + "remove it, or put the folder that it leads to in its place. "
        #expect(error.description.contains(reason))
        #expect(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        #expect(try scratch.read("other/inner/file") == "other")
        #expect(try scratch.read("other/file") == "other")
        #expect(try scratch.read("state/Library.migrations.snapshot/0/item") == "old")
        try scratch.remove(name)
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.read("data/inner/file") == "old")
    }

    /// As a migration leaves it that moves all data to the folder where the state is, with a link at the old place.
    @Test func `what leads to the state by a link that is there since is not put back`() throws {
        try scratch.write("old", to: "former/state/file")
        let path = scratch.file("former/state")
        let error = try FileSnapshotTests.fail(scratch, protecting: [path]) {
            try scratch.remove("former")
            try scratch.link("former", to: scratch.path)
        }
        #expect(error.code == .protectionFailed)
        #expect(try error.path == scratch.resolved("former"))
        #expect(scratch.exists("state/Library.migrations.json"))
        #expect(try scratch.read("state/Library.migrations.snapshot/0/item/file") == "old")
        try scratch.remove("former")
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.read("former/state/file") == "old")
    }

    @Test func `folders above a file that went with it come back as they were`() throws {
        let path = try scratch.write("old", to: "data/shared/private/file")
        let folders = ["data", "data/shared", "data/shared/private"].map(scratch.file)
        for (folder, mode) in zip(folders, [0o2775, 0o750, 0o500] as [mode_t]) {
            try #require(chmod(folder, mode) == 0)
        }
        let before = try folders.map(FileSnapshotTests.attributes)
        try FileSnapshotTests.expectPutBack(scratch, protecting: [path]) {
            for folder in folders { try #require(chmod(folder, 0o700) == 0) }
            try scratch.remove("data")
        }
        #expect(try folders.map(FileSnapshotTests.attributes) == before)
        try #require(chmod(folders[2], 0o700) == 0)
    }

    // Apple's file systems refuse such names, and have no holes of that size; `setgroups` differs.
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
        try scratch.write("old", to: "data")
        try scratch.makeFolder("state")
        try Self.makeStrange(scratch.state.path)
        let isRun = try scratch.manager(upgradingTo: "1.1")
            .whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {}
        #expect(isRun)
    }

    @Test(arguments: [true, false])
    func `what the closure made goes, even if its name is no text`(isFolder: Bool) throws {
        try scratch.write("old", to: "data/file")
        try FileSnapshotTests.expectPutBack(scratch, protecting: [scratch.file("data")]) {
            try scratch.write("half", to: "data/file")
            try Self.makeStrange(scratch.file("data"), isFolder: isFolder)
            try scratch.write("new", to: "data/1-1")
        }
        #expect(try scratch.names("data") == ["file"])
        #expect(try scratch.read("data/file") == "old")
    }

    @Test func `files that are larger than any disk come back with their holes`() throws {
        try withTemporaryDirectory(in: TemporaryDirectory.memory) { scratch throws in
            for name in ["a", "b", "c"] {
                let path = try scratch.write("old", to: "data/" + name)
                // Where a file can't be so long, a long one does.
                if truncate(path, .max) != 0 { try #require(truncate(path, 1 << 40) == 0) }
            }
            try FileSnapshotTests.expectPutBack(scratch, protecting: [scratch.file("data")]) {
                try #require(truncate(scratch.file("data/a"), 2) == 0)
                try scratch.remove("data/b")
            }
            for name in ["a", "b", "c"] {
                var found = stat()
                try #require(stat(scratch.file("data/" + name), &found) == 0)
                #expect(found.st_size >= 1 << 40)
                #expect(found.st_blocks < 1_000)
                let handle = try #require(FileHandle(forReadingAtPath: scratch.file("data/" + name)))
                #expect(try handle.read(upToCount: 5) == Data("old\0\0".utf8))
            }
        }
    }

    /// Root gives its rights away; without them there is no folder of somebody else's to write to.
    @Test func `a folder that is somebody else's keeps its owner and gets its files`() async throws {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            try scratch.write("old", to: "data/file")
            if geteuid() == 0 {
                for path in [scratch.path, scratch.file("data/file")] {
                    try #require(chown(path, 65_534, 65_534) == 0)
                }
                try #require(chown(scratch.file("data"), 0, 65_534) == 0)
                try #require(chmod(scratch.file("data"), 0o770) == 0)
                try #require(setgroups(0, nil) == 0 && setgid(65_534) == 0 && setuid(65_534) == 0)
            }
            try FileSnapshotTests.expectPutBack(scratch, protecting: [scratch.file("data")]) {
                try scratch.remove("data/file")
                try scratch.write("half", to: "data/other")
            }
            #expect(try scratch.names("data") == ["file"])
        }
    }
    #endif
}
