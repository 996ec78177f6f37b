import AppMigrations
import Foundation
import Testing

/// The files that `protecting:` puts back, and those that it refuses.
@Suite(.temporaryDirectory) struct SnapshotTests {
    let scratch = TemporaryDirectory.current

    @Test func `a file comes back with content, mode and modification time`() throws {
        let path = try scratch.write("old", to: "data")
        try #require(chmod(path, 0o4640) == 0)
        try #require(
            utimensat(
                AT_FDCWD,
                path,
                [timespec(tv_sec: 9, tv_nsec: 7), timespec(tv_sec: 5, tv_nsec: 3)],
                0
            ) == 0
        )
        let before = try scratch.attributes(path)
        try scratch.expectPutBack(protecting: [path]) {
            try scratch.remove("data")
            try scratch.write("new and longer", to: "data")
        }
        #expect(try scratch.read("data") == "old")
        #expect(try scratch.attributes(path) == before)
    }

    #if os(Linux)
    /// As acl(5) has it on the disk: the owner may do all, and the user 5 read and write what the group may not.
    private static let accessList: [UInt8] = [
        2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 2, 0, 6, 0, 5, 0, 0, 0, 4, 0, 0, 0, 255, 255, 255, 255,
        16, 0, 6, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255,
    ]

    @Test(arguments: [("user.x", Array("old".utf8)), ("system.posix_acl_access", accessList)])
    func `a file and a folder come back with what the file system keeps beside them`(
        attribute: String,
        value: [UInt8]
    ) throws {
        try scratch.write("old", to: "tree/file")
        let names = ["tree", "tree/file"]
        // On a file system without such attributes there is none before and none after.
        let before = names.map {
            _ = scratch.setAttribute(attribute, to: value, of: $0)
            return scratch.attribute(attribute, of: $0)
        }
        try scratch.expectPutBack(protecting: [scratch.file("tree")]) {
            try scratch.remove("tree")
            try scratch.write("new", to: "tree/file")
        }
        #expect(names.map { scratch.attribute(attribute, of: $0) } == before)
        #expect(try scratch.read("tree/file") == "old")
    }
    #endif

    @Test func `a folder comes back with everything in it, links as links`() throws {
        try scratch.write("a", to: "folder/inner/a")
        try scratch.makeFolder("folder/empty")
        try scratch.link("folder/link", to: "inner/a")
        try scratch.link("folder/broken", to: "nowhere")
        try scratch.link("folder/loop", to: ".")
        try #require(chmod(scratch.file("folder/inner"), 0o500) == 0)
        let names = [
            "folder", "folder/inner", "folder/inner/a", "folder/empty", "folder/link", "folder/broken",
        ]
        let before = try names.map { try scratch.attributes($0) }
        try scratch.expectPutBack(protecting: [scratch.file("folder")]) {
            try #require(chmod(scratch.file("folder/inner"), 0o700) == 0)
            try scratch.remove("folder")
            try scratch.write("other", to: "folder/new")
        }
        #expect(try names.map { try scratch.attributes($0) } == before)
        #expect(try scratch.names("folder") == ["broken", "empty", "inner", "link", "loop"])
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: scratch.file("folder/link"))
                == "inner/a"
        )
        try #require(chmod(scratch.file("folder/inner"), 0o700) == 0)
    }

    @Test(arguments: ["file", "folder", "link"])
    func `what takes the place of another kind is removed`(kind: String) throws {
        try scratch.write("old", to: "data")
        try scratch.write("old", to: "tree/a")
        try scratch.expectPutBack(protecting: [scratch.file("data"), scratch.file("tree")]) {
            for name in ["data", "tree"] {
                try scratch.remove(name)
                switch kind {
                case "file": try scratch.write("new", to: name)
                case "folder": try scratch.write("new", to: "\(name)/b")
                default: try scratch.link(name, to: "/")
                }
            }
        }
        #expect(try scratch.read("data") == "old")
        #expect(try scratch.names("tree") == ["a"])
    }

    @Test func `a database comes back with the files that SQLite keeps beside it`() throws {
        try scratch.write("db", to: "db")
        try scratch.write("wal", to: "db-wal")
        try scratch.expectPutBack(protecting: [scratch.file("db")]) {
            try scratch.write("db 2", to: "db")
            try scratch.remove("db-wal")
            try scratch.write("shm", to: "db-shm")
            try scratch.write("journal", to: "db-journal")
        }
        #expect(try scratch.names(".") == ["db", "db-wal", "state"])
        #expect(try scratch.read("db") + scratch.read("db-wal") == "dbwal")
    }

    #if os(Linux)
    /// Whoever opens the database in between finds none, or one beside its own log.
    @Test(arguments: ["db-wal", "db-journal"])
    func `a database is away while the files that SQLite keeps beside it are put back`(companion: String)
        throws
    {
        for file in ["db", companion] { try scratch.write("old", to: file) }
        let watch = try FolderWatch()
        try watch.add(scratch.path)
        try scratch.expectPutBack(protecting: [scratch.file("db")]) {
            for file in ["db", companion] { try scratch.write("new", to: file) }
            _ = try watch.events()
        }
        let moves = try watch.events().filter { $0.hasPrefix("-") || $0.hasPrefix("+") }
        #expect(moves == ["- db", "- \(companion)", "+ \(companion)", "+ db"])
    }
    #endif

    @Test(arguments: ["data", "missing/folder/data"])
    func `what did not exist is gone after it`(name: String) throws {
        try scratch.expectPutBack(protecting: [scratch.file(name)]) {
            try scratch.write("new", to: name)
            try scratch.write("new", to: name + "-wal")
        }
        #expect(!scratch.exists(name))
        #expect(!scratch.exists(name + "-wal"))
    }

    @Test func `a file comes back when the migration removed the folder that held it`() throws {
        try scratch.write("old", to: "a/b/data")
        try scratch.expectPutBack(protecting: [scratch.file("a/b/data")]) { try scratch.remove("a") }
        #expect(try scratch.read("a/b/data") == "old")
    }

    @Test func `a folder inside another, a path twice and a trailing slash are one`() throws {
        try scratch.write("old", to: "a/b/data")
        try scratch.link("same", to: "a")
        let paths = ["a/b", "a", "a/", "a/b/data", "same/b"].map(scratch.file)
        try scratch.expectPutBack(protecting: paths) { try scratch.remove("a") }
        #expect(try scratch.read("a/b/data") == "old")
    }

    @Test func `ten thousand small files come back`() throws {
        try withTemporaryDirectory(in: TemporaryDirectory.memory) { scratch throws in
            try scratch.makeFolder("many")
            for number in 0..<10_000 { try append("\(number)", to: scratch.file("many/\(number)")) }
            try scratch.expectPutBack(protecting: [scratch.file("many")]) { try scratch.remove("many") }
            #expect(try scratch.names("many").count == 10_000)
            #expect(try scratch.read("many/9999") == "9999\n")
        }
    }
}
