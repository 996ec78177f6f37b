import Foundation
import Testing

@testable import AppMigrations

@Suite(.temporaryDirectory) struct StateLocationTests {
    let folder = TemporaryDirectory.current

    private static let names = [
        ("Library", "Library"), ("a-b_c.D9", "a-b_c.D9"), (".hidden", "%2Ehidden"), ("..", "%2E."),
        ("a/b", "a%2Fb"),
        ("a b", "a%20b"), ("100%", "100%25"), ("é", "%C3%A9"), ("e\u{301}", "e%CC%81"),
        ("日本", "%E6%97%A5%E6%9C%AC"),
        ("🙂", "%F0%9F%99%82"), ("\n\t\u{0}", "%0A%09%00"), ("a:b*c?", "a%3Ab%2Ac%3F"),
        ("\u{7F}~@[`{", "%7F%7E%40%5B%60%7B"),
    ]

    @Test(arguments: names)
    func `a name is percent-encoded in the names of its files`(name: String, encoded: String) {
        let location = StateLocation(name: name, directory: "/d")
        #expect(location.state == "/d/\(encoded).migrations.json")
        #expect(location.lock == "/d/\(encoded).migrations.lock")
        #expect(location.snapshot == "/d/\(encoded).migrations.snapshot")
        #expect(location.temporary == "/d/\(encoded).migrations.json.tmp")
        #expect(StateLocation.encodedLength(name) == encoded.utf8.count)
    }

    @Test(arguments: names, ["/", "/d", "/d/", "/Users/Zoë/Application Support", "/d//"])
    func `the start's own path is that of the location`(name: (String, String), directory: String) {
        let written = Self.written(directory: directory, name: name.0, capacity: 4_096)
        #expect(written == StateLocation(name: name.0, directory: directory).state)
    }

    @Test func `a path that doesn't fit is not written`() {
        // Room for the directory, a slash, the longest name, the suffix and the final NUL.
        let limit = 4_096 - 1 - StateLocation.nameLimit - ".migrations.json".utf8.count - 1
        let fitting = "/" + String(repeating: "d", count: limit - 1)
        #expect(
            Self.written(directory: fitting, name: "x", capacity: 4_096) == "\(fitting)/x.migrations.json"
        )
        let longest = String(repeating: "n", count: StateLocation.nameLimit)
        #expect(Self.written(directory: fitting, name: longest, capacity: 4_096)?.utf8.count == 4_095)
        #expect(Self.written(directory: fitting + "d", name: "x", capacity: 4_096) == nil)
        #expect(Self.written(directory: "", name: "x", capacity: 4_096) == nil)
    }

    @Test func `a name of 230 bytes is possible and one of 231 is not`() throws {
        let longest = String(repeating: "é", count: 38) + "xx"
        let manager = try MigrationManager(
            named: longest,
            currentVersion: "1",
            stateDirectory: folder.path
        )
        #expect(FileManager.default.fileExists(atPath: manager.stateFile))
        #expect(
            try MigrationManager(named: longest, currentVersion: "1", stateDirectory: folder.path).launch
                == .same
        )
        let error = try #require(throws: MigrationError.self) {
            try MigrationManager(named: longest + "x", currentVersion: "1", stateDirectory: folder.path)
        }
        #expect(error.code == .invalidName)
    }

    @Test func `two names that mean different files have two states`() throws {
        for name in ["a b", "a%20b", "é", "e\u{301}", ".a", "%2Ea"] {
            let manager = try MigrationManager(
                named: name,
                currentVersion: "1",
                stateDirectory: folder.path
            )
            #expect(manager.launch == .first, "\(name)")
            #expect(manager.name == name)
        }
    }

    @Test func `a relative directory is completed when the manager is made`() throws {
        let manager = try MigrationManager(
            named: "x",
            currentVersion: "1",
            stateDirectory: folder.path + "/./state"
        )
        #expect(manager.stateFile.hasPrefix("/"))
        #expect(
            try DefaultLocation.absolute("a/b", manager: "x") == FileManager.default.currentDirectoryPath
                + "/a/b"
        )
    }

    private static func written(directory: String, name: String, capacity: Int) -> String? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
            let length = StateLocation.writeStatePath(directory: directory, name: name, into: buffer)
            guard length > 0 else { return nil }
            #expect(buffer[length - 1] == 0)
            return String(decoding: buffer[..<(length - 1)], as: UTF8.self)
        }
    }
}

/// Paths that are given by mistake: the folder would be made, and the next release's start would be a fresh install.
@Suite(.temporaryDirectory) struct MistakenDirectoryTests {
    let folder = TemporaryDirectory.current

    private func refusal(_ directory: String) throws -> MigrationError {
        try #require(throws: MigrationError.self) {
            try MigrationManager(named: "Library", currentVersion: "1", stateDirectory: directory)
        }
    }

    @Test(arguments: ["~", "~/Library/Migrations", "~root/Migrations"])
    func `a directory that begins with a tilde is refused`(directory: String) throws {
        let error = try refusal(directory)
        #expect(error.code == .unusableDirectory)
        #expect(
            error.description
                == "The state directory \"\(directory)\" of manager \"Library\" can't be used: ~ at its beginning means the "
                + "home folder to a shell only; give the whole path, or ./~ for that name. Nothing was run or written. "
                + "Pass the path of a folder as stateDirectory:."
        )
    }

    @Test(arguments: [
        ("Application%20Support", "Application%20Support", "Application Support"),
        ("Application%20Support/App/Migrations", "Application%20Support", "Application Support"),
        ("Application%20Support/", "Application%20Support", "Application Support"),
        ("new%20folder", "new%20folder", "new folder"), ("Zo%C3%AB/a", "Zo%C3%AB", "Zoë"),
    ])
    func `a directory with the escapes of a URL is refused before it is made`(
        path: String,
        component: String,
        decoded: String
    ) throws {
        try folder.makeFolder(folder.path + "/Application Support")
        let error = try refusal(folder.path + "/" + path)
        #expect(error.code == .unusableDirectory)
        #expect(
            error.description
                == "The state directory \"\(folder.path)/\(path)\" of manager \"Library\" can't be used: it is "
                + "percent-encoded, and \(folder.path)/\(component) isn't there: where \(decoded) is meant, take "
                + "path(percentEncoded: false) of the URL, else make the folder first. Nothing was run or written. "
                + "Pass the path of a folder as stateDirectory:."
        )
        #expect(try folder.names() == ["Application Support"])
    }

    @Test func `a folder that stands there under the name with escapes is meant`() throws {
        try folder.makeFolder(folder.path + "/a%20b")
        try folder.makeFolder(folder.path + "/a b")
        for directory in ["/a%20b", "/a%20b/Migrations", "/100%", "/50%_", "/a%zzb"] {
            let path = folder.path + directory
            for launch in [MigrationManager.Launch.first, .same] {
                let manager = try library("1", in: path, firstRun: .freshInstall)
                #expect(manager.launch == launch)
            }
        }
    }

    @Test func `a folder that can't be looked at is named`() throws {
        let long = folder.path + "/a%20" + String(repeating: "b", count: 300)
        let location = StateLocation(name: "Library", directory: long)
        let error = try #require(throws: MigrationError.self) {
            try DefaultLocation.refuseEncoded(location)
        }
        #expect(error.description.contains("File name too long (lstat, errno "))
    }
}
