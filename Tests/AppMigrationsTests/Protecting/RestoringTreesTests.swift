import AppMigrations
import Foundation
import Testing

/// Trees are put back by the bytes of their names, whatever became of them, and no more is touched than differs.
@Suite(.temporaryDirectory) struct RestoringTreesTests {
    let scratch = TemporaryDirectory.current

    private static func status(_ path: String) throws -> stat {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return status
    }

    @Test func `an unchanged file stays the one it was`() throws {
        let paths = try ["data/same", "data/touched", "data/rewritten"].map {
            try scratch.write("old", to: $0)
        }
        try scratch.link("data/link", to: "same")
        let attributes = try FileSnapshotTests.attributes(paths[1])
        let kept = try (paths[..<2] + [scratch.file("data/link")]).map { try Self.status($0) }
        // What another process writes to an open file isn't lost.
        let other = open(paths[0], O_WRONLY | O_APPEND | O_CLOEXEC)
        try #require(other >= 0)
        defer { close(other) }
        try FileSnapshotTests.expectPutBack(scratch, protecting: [scratch.file("data")]) {
            try #require(chmod(paths[1], 0o604) == 0)
            try #require(utimes(paths[1], nil) == 0)
            try scratch.write("new", to: "data/rewritten")
        }
        let found = try (paths[..<2] + [scratch.file("data/link")]).map { try Self.status($0) }
        #expect(found.map(\.st_ino) == kept.map(\.st_ino))
        #expect(found.map(\.st_mode) == kept.map(\.st_mode))
        #expect(try FileSnapshotTests.attributes(paths[1]) == attributes)
        try #require(write(other, "er", 2) == 2)
        #expect(try scratch.read("data/same") == "older")
        #expect(try scratch.read("data/rewritten") == "old")
    }

    @Test func `a file of the same size and time that holds something else is put back`() throws {
        let size = 600_000
        let path = try scratch.write(String(repeating: "a", count: size), to: "data")
        let before = try FileSnapshotTests.attributes(path)
        try FileSnapshotTests.expectPutBack(scratch, protecting: [path]) {
            let times = try Self.status(path)
            let descriptor = open(path, O_WRONLY)
            defer { close(descriptor) }
            try #require(pwrite(descriptor, "b", 1, off_t(size - 1)) == 1)
            #if canImport(Darwin)
            try #require(futimens(descriptor, [times.st_atimespec, times.st_mtimespec]) == 0)
            #else
            try #require(futimens(descriptor, [times.st_atim, times.st_mtim]) == 0)
            #endif
        }
        #expect(try scratch.read("data").utf8.allSatisfy { $0 == 0x61 })
        #expect(try FileSnapshotTests.attributes(path) == before)
    }

    @Test func `a process that makes files meanwhile doesn't end it`() throws {
        let names = (0..<200).map { "data/\($0)" }
        for name in names { try scratch.write("old", to: name) }
        try scratch.makeFolder("data/made")
        let isDone = Log()
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [paths = names.map(scratch.file)] in
            var number = 0
            while isDone.lines.isEmpty {
                let file = open(paths[number % 200], O_WRONLY | O_CREAT | O_APPEND, 0o600)
                _ = write(file, "x", 1)
                close(file)
                number += 1
            }
            ended.signal()
        }
        defer { ended.wait() }
        defer { isDone.add("done") }
        for _ in 0..<5 {
            let error = try FileSnapshotTests.fail(scratch, protecting: [scratch.file("data")]) {}
            #expect(error.code == .migrationFailed)
            #expect(try scratch.names("data").count == 201)
        }
    }

    /// As another user, since root may write into every folder.
    @Test func `a file is put back in a folder that can't be written to`() async throws {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            let path = try scratch.write("old", to: "closed/inner/data")
            try scratch.write("old", to: "taken/deep/data")
            try scratch.write("old", to: "shut/data")
            try Self.becomeNobody(scratch.path)
            try #require(chmod(scratch.file("closed/inner"), 0o555) == 0)
            let inode = try Self.status(path).st_ino
            let paths = ["closed", "taken/deep/data", "shut/data"].map(scratch.file)
            try FileSnapshotTests.expectPutBack(scratch, protecting: paths) {
                try append("new", to: path)
                // The closure takes away what it needs itself.
                try scratch.remove("taken/deep/data")
                try #require(chmod(scratch.file("taken/deep"), 0o500) == 0)
                try #require(chmod(scratch.file("taken"), 0o400) == 0)
                try #require(chmod(scratch.file("shut/data"), 0) == 0)
                try #require(chmod(scratch.file("shut"), 0) == 0)
            }
            #expect(try scratch.read("closed/inner/data") == "old")
            #expect(try Self.status(scratch.file("closed/inner")).st_mode & 0o777 == 0o555)
            #expect(try Self.status(scratch.file("taken")).st_mode & 0o777 == 0o400)
            #expect(try Self.status(scratch.file("shut")).st_mode & 0o777 == 0)
            for name in ["taken", "taken/deep", "shut"] {
                try #require(chmod(scratch.file(name), 0o700) == 0)
            }
            #expect(try scratch.read("taken/deep/data") == "old")
            #expect(try scratch.read("shut/data") == "old")
            _ = inode
        }
    }

    /// Gives the rights of root away, where the tests run as root, and what is in the folder with them.
    private static func becomeNobody(_ path: String) throws {
        if geteuid() != 0 { return }
        let names = try FileManager.default.subpathsOfDirectory(atPath: path)
        for name in [path] + names.map({ path + "/" + $0 }) {
            try #require(lchown(name, 65_534, 65_534) == 0)
        }
        #if os(Linux)
        try #require(setgroups(0, nil) == 0)
        #endif
        try #require(setgid(65_534) == 0 && setuid(65_534) == 0)
    }

    // Apple's file systems refuse such names.
    #if os(Linux)
    /// A name that is no text, with a letter of Latin 1.
    private static func strange(_ path: String) -> [CChar] {
        Array((path + "caf").utf8CString.dropLast()) + [-23, 0]
    }

    @Test func `names that are no text come back, and go`() throws {
        try scratch.makeFolder("data")
        let folder = scratch.file("data/")
        try #require(mkdir(Self.strange(folder), 0o700) == 0)
        let inner = Array(Self.strange(folder).dropLast()) + [0x2F] + Array(Self.strange("").dropLast())
        for suffix in ["", "2", "link"] {
            let name = inner + Array(suffix.utf8CString)
            if suffix == "link" { try #require(symlink(Self.strange("x"), name) == 0); continue }
            let file = open(name, O_CREAT | O_WRONLY, 0o600)
            try #require(file >= 0 && write(file, "old", 3) == 3)
            close(file)
        }
        try FileSnapshotTests.expectPutBack(scratch, protecting: [scratch.file("data")]) {
            try #require(unlink(inner + [0]) == 0)
            try #require(truncate(inner + Array("2".utf8CString), 1) == 0)
            try #require(unlink(inner + Array("link".utf8CString)) == 0)
            try #require(mkdir(inner + Array("3".utf8CString), 0o700) == 0)
            close(open(inner + [0x33, 0x2F] + Self.strange(""), O_CREAT | O_WRONLY, 0o600))
        }
        for suffix in ["", "2"] {
            let file = open(inner + Array(suffix.utf8CString), O_RDONLY)
            var bytes = [UInt8](repeating: 0, count: 9)
            #expect(read(file, &bytes, 9) == 3)
            #expect(bytes.starts(with: Array("old".utf8)))
            close(file)
        }
        var content = [CChar](repeating: 0, count: 100)
        #expect(readlink(inner + Array("link".utf8CString), &content, 100) == 5)
        #expect(Array(content[..<6]) == Self.strange("x"))
        #expect(access(inner + Array("3".utf8CString), F_OK) != 0)
    }
    #endif
}
