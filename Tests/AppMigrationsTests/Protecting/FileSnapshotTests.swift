import AppMigrations
import Foundation
import Testing

/// What `protecting:` puts back, and what it refuses.
@Suite(.temporaryDirectory) struct FileSnapshotTests {
    let scratch = TemporaryDirectory.current

    /// Runs a migration that makes `change` and throws.
    static func fail(
        _ scratch: TemporaryDirectory,
        protecting paths: [String],
        change: () throws -> Void
    ) throws -> MigrationError {
        let manager = try scratch.manager(upgradingTo: "1.1")
        do throws(MigrationError) {
            try manager.whenMigrating(toVersion: "1.1", protecting: paths) {
                try change()
                throw Refusal()
            }
        } catch {
            return error
        }
        throw Refusal()
    }

    /// Expects that the files are put back after a migration that makes `change` and throws.
    static func expectPutBack(
        _ scratch: TemporaryDirectory,
        protecting paths: [String],
        change: () throws -> Void
    ) throws {
        let error = try fail(scratch, protecting: paths, change: change)
        #expect(error.code == .migrationFailed)
        #expect(error.underlyingError is Refusal)
        #expect(
            error.description.hasSuffix("next manager. The protected files are what they were before it.")
        )
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
        // Else the next start would look for the copy, which is gone.
        #expect(try scratch.read("state/Library.migrations.json").contains("\"protected\" : []"))
    }

    /// Kind, mode, size and modification time, of a link itself.
    static func attributes(_ path: String) throws -> String {
        let found = try FileManager.default.attributesOfItem(atPath: path)
        let date = try #require(found[.modificationDate] as? Date)
        return "\(found[.type] ?? "") \(found[.posixPermissions] ?? "") \(found[.size] ?? "") "
            + "\(date.timeIntervalSince1970)"
    }

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
        let before = try Self.attributes(path)
        try Self.expectPutBack(scratch, protecting: [path]) {
            try scratch.remove("data")
            try scratch.write("new and longer", to: "data")
        }
        #expect(try scratch.read("data") == "old")
        #expect(try Self.attributes(path) == before)
    }

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
        let before = try names.map { try Self.attributes(scratch.file($0)) }
        try Self.expectPutBack(scratch, protecting: [scratch.file("folder")]) {
            try #require(chmod(scratch.file("folder/inner"), 0o700) == 0)
            try scratch.remove("folder")
            try scratch.write("other", to: "folder/new")
        }
        #expect(try names.map { try Self.attributes(scratch.file($0)) } == before)
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
        try Self.expectPutBack(scratch, protecting: [scratch.file("data"), scratch.file("tree")]) {
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
        try Self.expectPutBack(scratch, protecting: [scratch.file("db")]) {
            try scratch.write("db 2", to: "db")
            try scratch.remove("db-wal")
            try scratch.write("shm", to: "db-shm")
            try scratch.write("journal", to: "db-journal")
        }
        #expect(try scratch.names(".") == ["db", "db-wal", "state"])
        #expect(try scratch.read("db") + scratch.read("db-wal") == "dbwal")
    }

    @Test(arguments: ["data", "missing/folder/data"])
    func `what did not exist is gone after it`(name: String) throws {
        try Self.expectPutBack(scratch, protecting: [scratch.file(name)]) {
            try scratch.write("new", to: name)
            try scratch.write("new", to: name + "-wal")
        }
        #expect(!scratch.exists(name))
        #expect(!scratch.exists(name + "-wal"))
    }

    @Test func `a file comes back when the migration removed the folder that held it`() throws {
        try scratch.write("old", to: "a/b/data")
        try Self.expectPutBack(scratch, protecting: [scratch.file("a/b/data")]) {
            try scratch.remove("a")
        }
        #expect(try scratch.read("a/b/data") == "old")
    }

    @Test func `a folder inside another, a path twice and a trailing slash are one`() throws {
        try scratch.write("old", to: "a/b/data")
        try scratch.link("same", to: "a")
        let paths = ["a/b", "a", "a/", "a/b/data", "same/b"].map(scratch.file)
        try Self.expectPutBack(scratch, protecting: paths) { try scratch.remove("a") }
        #expect(try scratch.read("a/b/data") == "old")
    }

    @Test func `ten thousand small files come back`() throws {
        try withTemporaryDirectory(in: TemporaryDirectory.memory) { scratch throws in
            try scratch.makeFolder("many")
            for number in 0..<10_000 {
                try append("\(number)", to: scratch.file("many/\(number)"))
            }
            try Self.expectPutBack(scratch, protecting: [scratch.file("many")]) {
                try scratch.remove("many")
            }
            #expect(try scratch.names("many").count == 10_000)
            #expect(try scratch.read("many/9999") == "9999\n")
        }
    }

    @Test func `a path in another file system comes back`() throws {
        try withTemporaryDirectory(in: TemporaryDirectory.memory) { other throws in
            try other.write("old", to: "folder/data")
            try Self.expectPutBack(scratch, protecting: [other.file("folder")]) {
                try other.write("new", to: "folder/data")
            }
            #expect(try other.read("folder/data") == "old")
        }
    }
}
