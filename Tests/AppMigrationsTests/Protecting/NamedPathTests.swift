import AppMigrations
import Foundation
import Testing

/// The file that a path names: nothing is repaired, cut or guessed.
@Suite(.temporaryDirectory) struct NamedPathTests {
    let scratch = TemporaryDirectory.current

    private static func refusal(_ scratch: TemporaryDirectory, protecting path: String) throws
        -> MigrationError
    {
        let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: path)
        try scratch.expectNoCopies()
        return error
    }

    @Test(arguments: ["drafts/", "drafts//", "other/", "app/../drafts/"])
    func `with a slash at its end a link is the folder that it leads to`(name: String) throws {
        try scratch.makeFolder("app")
        try scratch.write("old", to: "disk/drafts/note")
        try scratch.link("drafts", to: "disk/drafts")
        try scratch.link("other", to: "drafts/")
        try scratch.expectPutBack(protecting: [scratch.file(name)]) {
            try scratch.write("half", to: "disk/drafts/note")
            try scratch.write("new", to: "disk/drafts/more")
        }
        #expect(try scratch.names("disk/drafts") == ["note"])
        #expect(try scratch.read("drafts/note") == "old")
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: scratch.file("drafts"))
                == "disk/drafts"
        )
    }

    @Test(arguments: [
        ("file", "Not a directory (realpath, errno 20)"),
        ("nowhere", "No such file or directory (realpath, errno 2)"),
    ])
    func `with a slash at its end a link that leads to no folder is refused`(
        target: String,
        reason: String
    ) throws {
        try scratch.write("old", to: "file")
        try scratch.link("link", to: target)
        let error = try Self.refusal(scratch, protecting: scratch.file("link/"))
        #expect(
            error.description
                == "The files that migration 1.1 protects could not be copied in manager \"Library\" "
                + "(\(scratch.state.stateFile)): \(scratch.file("link/")): \(reason). The migration was not run and no file was "
                + "changed. Fix the problem and create a new manager."
        )
    }

    #if os(Linux)
    /// Makes a folder whose name is Latin-1, and a link to it, and gives the folder's path as bytes.
    private static func makeStrange(_ path: String, _ name: [UInt8] = Array("caf".utf8) + [0xE9]) throws
        -> [CChar]
    {
        let bytes = Array((path + "/").utf8) + name
        let folder = bytes.map { CChar(bitPattern: $0) } + [0]
        try #require(mkdir(folder, 0o700) == 0)
        return folder
    }

    private static func write(_ text: String, to name: String, in folder: [CChar]) throws {
        let path = Array(folder.dropLast()) + Array(("/" + name).utf8CString)
        let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count)
    }

    @Test(arguments: ["link/file", "link/inner/file", "link/"])
    func `what no text can name can't be protected, and is not put back elsewhere`(name: String) throws {
        let folder = try Self.makeStrange(scratch.path)
        try Self.write("original", to: "file", in: folder)
        try #require(symlink(folder, scratch.file("link")) == 0)
        let error = try Self.refusal(scratch, protecting: scratch.file(name))
        let reason =
            "contains a name that is not UTF-8, which no path can express. The migration was not run and"
        #expect(error.description.contains(reason), "\(error)")
        #expect(try scratch.read("link/file") == "original")
    }

    @Test func `what no text can name can't be synchronized`() throws {
        let folder = try Self.makeStrange(scratch.path)
        try #require(symlink(folder, scratch.file("link")) == 0)
        let error = try #require(throws: MigrationError.self) {
            try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") { context in
                try context.synchronize(scratch.file("link"))
            }
        }
        let cause = try #require(error.underlyingError as? MigrationError)
        #expect((cause.underlyingError as? SystemCallError)?.errorNumber == EILSEQ)
    }

    @Test func `a state directory behind such a folder works, but for protecting`() throws {
        let folder = try Self.makeStrange(scratch.path)
        try #require(symlink(folder, scratch.file("link")) == 0)
        let manager = { try library("1.1", in: scratch.file("link/state")) }
        _ = try manager().refusal(protecting: scratch.file("data"))
        try manager().whenMigrating(toVersion: "1.1") {}
        #expect(try scratch.names("link/state") == ["Library.migrations.json", "Library.migrations.lock"])
    }

    @Test func `a relative path in such a folder is refused`() async throws {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            try #require(chdir(try Self.makeStrange(scratch.path)) == 0)
            let error = try #require(throws: MigrationError.self) {
                try MigrationManager(named: "Library", currentVersion: "1.1", stateDirectory: "state")
            }
            #expect(error.code == .unusableDirectory)
            #expect(
                error.description
                    == "The state directory \"state\" of manager \"Library\" can't be used: it is relative, and the "
                    + "working directory can't be determined: Invalid or incomplete multibyte or wide character (getcwd, errno "
                    + "84). Nothing was run. Pass the absolute path of a folder as stateDirectory:."
            )
            _ = try Self.refusal(scratch, protecting: "data")
        }
    }
    #endif
}
