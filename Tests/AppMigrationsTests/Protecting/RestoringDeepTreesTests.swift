import AppMigrations
import Foundation
import Testing

/// Trees that are deeper than a path may be long, or than a process may have files open.
@Suite(.temporaryDirectory) struct RestoringDeepTreesTests {
    let scratch = TemporaryDirectory.current

    @Test func `a tree that is deeper than a path may be long is copied, put back and removed`() throws {
        try Self.makeDeep(scratch.file("data"), "old")
        try FileSnapshotTests.expectPutBack(
            scratch,
            protecting: [scratch.file("data"), scratch.file("more")]
        ) {
            try Self.makeDeep(scratch.file("data"), "new")
            try Self.makeDeep(scratch.file("more"), "new")
        }
        #expect(try Self.readDeep(scratch.file("data")) == "old")
        #expect(!scratch.exists("more"))
        // Foundation can't remove it.
        try FileSnapshotTests.expectPutBack(scratch, protecting: [scratch.file("gone/data")]) {
            try scratch.makeFolder("gone")
            try FileManager.default.moveItem(
                atPath: scratch.file("data"),
                toPath: scratch.file("gone/data")
            )
        }
        #expect(try scratch.names("gone") == [])
    }

    private static let level = String(repeating: "d", count: 200)

    /// A file under thirty folders whose names have 200 bytes each.
    private static func makeDeep(_ path: String, _ content: String) throws {
        try inDeep(path, isMaking: true) { folder in
            let file = openat(folder, "file", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            try #require(file >= 0)
            defer { close(file) }
            try #require(write(file, content, content.utf8.count) == content.utf8.count)
        }
    }

    private static func readDeep(_ path: String) throws -> String {
        var content = ""
        try inDeep(path, isMaking: false) { folder in
            let file = openat(folder, "file", O_RDONLY)
            try #require(file >= 0)
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: 100)
            let count = read(file, &bytes, bytes.count)
            content = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
        return content
    }

    private static func inDeep(_ path: String, isMaking: Bool, _ body: (Int32) throws -> Void) throws {
        if isMaking { mkdir(path, 0o700) }
        var folder = open(path, O_RDONLY | O_DIRECTORY)
        for _ in 0..<30 {
            try #require(folder >= 0)
            if isMaking { mkdirat(folder, level, 0o700) }
            let next = openat(folder, level, O_RDONLY | O_DIRECTORY)
            close(folder)
            folder = next
        }
        try #require(folder >= 0)
        defer { close(folder) }
        try body(folder)
    }

    @Test func `more folders in each other than a process may have files open`() throws {
        // A path of Apple's systems has at most 1,024 bytes, and their processes open 256 files.
        #if canImport(Darwin)
        let path = String(repeating: "d/", count: 300)
        #else
        let path = String(repeating: "d/", count: 1_500)
        #endif
        try scratch.write("old", to: "data/" + path + "file")
        try FileSnapshotTests.expectPutBack(scratch, protecting: [scratch.file("data")]) {
            try scratch.write("new", to: "data/" + path + "file")
            try scratch.write("new", to: "data/d/other")
        }
        #expect(try scratch.read("data/" + path + "file") == "old")
        #expect(try scratch.names("data/d") == ["d"])
    }
}
