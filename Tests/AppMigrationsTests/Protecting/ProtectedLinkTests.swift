import AppMigrations
import Foundation
import Testing

/// A link that is named is protected together with what it leads to.
@Suite(.temporaryDirectory) struct ProtectedLinkTests {
    let scratch = TemporaryDirectory.current

    /// The settings of a dotfile manager: a link to a link to the file.
    private func makeLinks() throws {
        try scratch.write("old", to: "dotfiles/v1/settings")
        try scratch.makeFolder("config")
        try scratch.link("dotfiles/current", to: "v1/settings")
        try scratch.link("config/settings", to: "../dotfiles/current")
    }

    private func target(_ name: String) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: scratch.file(name))
    }

    private func expectOld() throws {
        #expect(try scratch.read("dotfiles/v1/settings") == "old")
        #expect(try target("dotfiles/current") == "v1/settings")
        #expect(try target("config/settings") == "../dotfiles/current")
        #expect(try scratch.names("config") == ["settings"])
        #expect(try scratch.names("dotfiles/v1") == ["settings"])
    }

    static let ways = [
        "through it", "in place of it", "in place of the next one", "the file gone", "all gone",
    ]

    private static func change(_ scratch: TemporaryDirectory, _ way: String) throws {
        switch way {
        case "through it":
            let descriptor = open(scratch.file("config/settings"), O_WRONLY | O_TRUNC)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            try #require(write(descriptor, "half", 4) == 4)
        case "in place of it":
            try scratch.remove("config/settings")
            try scratch.write("half", to: "config/settings")
        case "in place of the next one":
            try scratch.remove("dotfiles/current")
            try scratch.write("half", to: "dotfiles/current")
        case "the file gone":
            try scratch.remove("dotfiles/v1/settings")
        default:
            for name in ["config", "dotfiles"] { try scratch.remove(name) }
        }
    }

    @Test(arguments: ways)
    func `a closure that writes through a link or replaces it, and throws, changes nothing`(way: String)
        throws
    {
        try makeLinks()
        try scratch.expectPutBack(protecting: [scratch.file("config/settings")]) {
            try Self.change(scratch, way)
        }
        try expectOld()
    }

    @Test(arguments: ways)
    func `the next start puts both back after a death`(way: String) async throws {
        try makeLinks()
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = scratch.path as String, way = way as String] in
            let scratch = TemporaryDirectory(path: path)
            try scratch.migrate(protecting: "config/settings") {
                try Self.change(scratch, way)
                die()
            }
        }
        _ = try scratch.manager(upgradingTo: "1.1")
        try expectOld()
    }

    @Test func `a link to a folder is protected with the whole folder`() throws {
        try scratch.write("old", to: "disk/drafts/note")
        try scratch.link("drafts", to: "disk/drafts")
        try scratch.expectPutBack(protecting: [scratch.file("drafts")]) {
            try scratch.write("half", to: "drafts/note")
            try scratch.remove("drafts")
            try scratch.write("new", to: "drafts/more")
        }
        #expect(try scratch.read("disk/drafts/note") == "old")
        #expect(try target("drafts") == "disk/drafts")
    }

    @Test func `a link that leads nowhere is protected with the nothing that it leads to`() throws {
        try scratch.link("link", to: "missing/file")
        try scratch.expectPutBack(protecting: [scratch.file("link")]) {
            try scratch.write("new", to: "missing/file")
        }
        #expect(!scratch.exists("missing/file"))
        #expect(try target("link") == "missing/file")
    }

    @Test func `a database behind a link comes back with the files beside it`() throws {
        try scratch.write("db", to: "disk/db")
        try scratch.write("wal", to: "disk/db-wal")
        try scratch.link("db", to: "disk/db")
        try scratch.expectPutBack(protecting: [scratch.file("db")]) {
            try scratch.write("db 2", to: "disk/db")
            try scratch.write("wal 2", to: "disk/db-wal")
            try scratch.write("shm", to: "disk/db-shm")
        }
        #expect(try scratch.names("disk") == ["db", "db-wal"])
        #expect(try scratch.read("disk/db") + scratch.read("disk/db-wal") == "dbwal")
    }

    @Test(arguments: [
        ("state", "the state directory is in it"),
        ("state/Library.migrations.json", "this library keeps its state there"),
    ])
    func `what a link leads to is refused like any other path`(target: String, reason: String) throws {
        try scratch.link("link", to: target)
        let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: scratch.file("link"))
        #expect(error.description.contains(reason), "\(error)")
    }

    @Test func `links that lead in a circle are refused`() throws {
        try scratch.link("one", to: "two")
        try scratch.link("two", to: "one")
        let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: scratch.file("one"))
        #expect(error.description.contains("it leads through more than 40 links"), "\(error)")
    }

    /// Only its owner can replace the link, so the closure can't.
    ///
    /// The test runs as another user, since root may write into every folder.
    @Test func `a link in a folder that isn't writable protects what it leads to`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            try scratch.write("old", to: "data")
            try scratch.makeFolder("closed")
            try scratch.link("closed/link", to: "../data")
            try scratch.becomeNobody()
            try scratch.setMode(0o500, of: "closed")
            try scratch.expectPutBack(protecting: [scratch.file("closed/link")]) {
                try scratch.write("half", to: "data")
            }
            #expect(try scratch.read("data") == "old")
        }
    }
}
