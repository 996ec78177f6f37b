import AppMigrations
import Foundation
import Testing

/// Files are put back to where they were, wherever the state lies and whatever the closure left.
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

    @Test func `files that were moved with the state are found, though a link leads from their old place`()
        async throws
    {
        try scratch.write("old\n", to: "app/data")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.file("app") as String] in
            try library("1.1", in: path + "/state").whenMigrating(
                toVersion: "1.1",
                protecting: [path + "/data"]
            ) {
                try append("changed", to: path + "/data")
                die()
            }
        }
        try scratch.makeFolder("disk")
        try #require(rename(scratch.file("app"), scratch.file("disk/app")) == 0)
        try scratch.link("app", to: "disk/app")
        _ = try library("1.1", in: scratch.file("disk/app/state"))
        #expect(try scratch.read("disk/app/data") == "old\n")
    }

    @Test func `a state directory under a link that leads nowhere is an error`() throws {
        try scratch.link("link", to: scratch.file("nowhere/at/all"))
        let error = #expect(throws: MigrationError.self) { try library("1.1", in: scratch.file("link/sub")) }
        #expect(error?.code == .stateNotSaved)
        #expect(error?.description.contains("No such file or directory (mkdir, errno 2)") == true)
    }

    @Test(
        arguments: ["data/inner", "data"],
        ["file", "link to nowhere", "link to a file", "link to a folder"]
    )
    func `what took the place of a folder above has to be moved away first, and no link is followed`(
        name: String,
        kind: String
    ) throws {
        let path = try scratch.write("old", to: "data/inner/file")
        let others = ["other/inner/file", "other/file"]
        for other in others { try scratch.write("other", to: other) }
        let error = try scratch.fail(protecting: [path]) {
            try scratch.remove(name)
            switch kind {
            case "file": try scratch.write("new", to: name)
            case "link to nowhere": try scratch.link(name, to: scratch.file("nowhere"))
            case "link to a file": try scratch.link(name, to: scratch.file("other/file"))
            default: try scratch.link(name, to: scratch.file("other"))
            }
        }
        #expect(error.code == .protectionFailed)
        let place = try scratch.resolved(name)
        #expect(error.path == place)
        let reason = ": \(place) was a folder when the copies were made; put that folder back in its place. "
        #expect(error.description.contains(reason), "\(error)")
        #expect(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        for other in others { #expect(try scratch.read(other) == "other") }
        #expect(try scratch.read("state/Library.migrations.snapshot/0/item") == "old")
        #expect(!scratch.exists("nowhere"))
        try scratch.remove(name)
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.read("data/inner/file") == "old")
    }

    /// A migration makes a folder of a file, and protects what will be in it.
    @Test(arguments: [false, true])
    func `nothing is put back below a file that was a file before`(isFolderMade: Bool) throws {
        try scratch.write("old", to: "library")
        let error = try scratch.fail(protecting: [scratch.file("library/catalog/main")]) {
            if !isFolderMade { return }
            try scratch.remove("library")
            try scratch.write("new", to: "library/catalog/main")
        }
        #expect(error.code == .migrationFailed, "\(error)")
        #expect(!scratch.exists("library/catalog/main"))
        #expect(try isFolderMade || scratch.read("library") == "old")
        _ = try scratch.manager(upgradingTo: "1.1")
        try scratch.expectNoCopies()
    }

    /// A migration moved all data to the folder where the state is, and left a link at the old place.
    @Test func `what leads to the state by a link that is there since is not put back`() throws {
        try scratch.write("old", to: "former/state/file")
        let path = scratch.file("former/state")
        let error = try scratch.fail(protecting: [path]) {
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

    @Test func `folders above a file that went with it are made again, for this user alone`() throws {
        let path = try scratch.write("old", to: "data/shared/private/file")
        let folders = ["data", "data/shared", "data/shared/private"]
        for folder in folders { try scratch.setMode(0o755, of: folder) }
        try scratch.expectPutBack(protecting: [path]) { try scratch.remove("data") }
        #expect(try folders.map(scratch.mode) == [0o700, 0o700, 0o700])
        #expect(try scratch.read("data/shared/private/file") == "old")
    }
}
