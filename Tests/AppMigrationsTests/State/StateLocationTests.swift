import Foundation
import Testing

@testable import AppMigrations

@Suite(.temporaryDirectory) struct StateLocationTests {
    let folder = TemporaryDirectory.current

    @Test func `a name stands in the names of its files as it is`() {
        let location = StateLocation(name: "a-b_c.D9", directory: "/d")
        #expect(location.state == "/d/a-b_c.D9.migrations.json")
        #expect(location.lock == "/d/a-b_c.D9.migrations.lock")
    }

    @Test(arguments: ["/", "/d", "/d/", "/Users/Zoë/Application Support", "/d//"])
    func `the start's own path is that of the location`(directory: String) {
        let written = Self.written(directory: directory, name: "a-b_c.D9", capacity: 4_096)
        #expect(written == StateLocation(name: "a-b_c.D9", directory: directory).state)
    }

    @Test(
        arguments: [
            "", ".hidden", "..", ".", "a/b", "a b", "100%", "é", "日本", "🙂", "a\n", "a\0", "a:b", "a@", "a[",
            "a`", "a{", "a,",
            "a^", String(repeating: "n", count: 201),
        ]
    )
    func `a name that can't stand in the name of a file everywhere is refused`(name: String) throws {
        let errors = [
            try #require(throws: MigrationError.self) {
                try MigrationManager(named: name, currentVersion: "1", stateDirectory: folder.path)
            },
            try #require(throws: MigrationError.self) {
                try MigrationManager.forgetState(named: name, stateDirectory: folder.path)
            },
        ]
        for (error, unchanged) in zip(errors, ["Nothing was run.", "The state was not moved."]) {
            #expect(error.code == .invalidName)
            #expect(error.managerName == name)
            #expect(
                error.description
                    == "The manager's name \(name.quoted) can't be used. A name may contain A-Z, a-z, 0-9, dots, hyphens and "
                    + "underscores. It must not be empty, begin with a dot or be longer than 200 characters. \(unchanged) "
                    + "Pass another name."
            )
        }
        #expect(try folder.names() == [])
    }

    @Test(arguments: ["A", "z", "0", "_", "-", "a..b.", "AZaz09._-", String(repeating: "n", count: 200)])
    func `other names are possible`(name: String) throws {
        for launch in [MigrationManager.Launch.first, .same] {
            let manager = try MigrationManager(named: name, currentVersion: "1", stateDirectory: folder.path)
            #expect(manager.launch == launch)
            #expect(manager.stateFile == "\(folder.path)/\(name).migrations.json")
        }
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

    private static func written(directory: String, name: String, capacity: Int) -> String? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
            let length = StateLocation(name: name, directory: directory).writePath(into: buffer)
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

    @Test(arguments: ["state", "a/b", "./state", "../state", ".", "./~", "a%20b"])
    func `a relative directory is refused, naming the folder that it would be now`(directory: String) throws {
        let errors: [(MigrationError, unchanged: String)] = [
            (try refusal(directory), "Nothing was run."),
            (
                try #require(throws: MigrationError.self) {
                    try MigrationManager(
                        named: "Library",
                        currentVersion: "1",
                        stateDirectory: directory,
                        options: .init(isReadOnly: true)
                    )
                },
                "Nothing was run."
            ),
            (
                try #require(throws: MigrationError.self) {
                    try MigrationManager.forgetState(named: "Library", stateDirectory: directory)
                },
                "The state was not moved."
            ),
        ]
        for (error, unchanged) in errors {
            #expect(error.code == .unusableDirectory)
            #expect(error.path == directory)
            #expect(
                error.description
                    == "The state directory \"\(directory)\" of manager \"Library\" can't be used: it is relative, so it "
                    + "means \(FileManager.default.currentDirectoryPath)/\(directory) only as long as the working directory "
                    + "stays the same. \(unchanged) Pass the absolute path of a folder as stateDirectory:."
            )
        }
    }

    @Test(arguments: ["~", "~/Library/Migrations", "~root/Migrations"])
    func `a directory that begins with a tilde is refused`(directory: String) throws {
        let error = try refusal(directory)
        #expect(error.code == .unusableDirectory)
        #expect(
            error.description
                == "The state directory \"\(directory)\" of manager \"Library\" can't be used: only a shell replaces ~ with the "
                + "home folder; pass the whole path. Nothing was run. "
                + "Pass the absolute path of a folder as stateDirectory:."
        )
    }

    @Test(arguments: [
        ("Application%20Support", "Application%20Support"),
        ("Application%20Support/App/Migrations", "Application%20Support"),
        ("Application%20Support/", "Application%20Support"), ("new%20folder", "new%20folder"),
        ("Zo%C3%AB/a", "Zo%C3%AB"), ("no/such/a%2fb/c", "no/such/a%2fb"),
        ("Application%20Support/a%20b/c", "Application%20Support/a%20b"),
    ])
    func `a directory with the escapes of a URL is refused before it is made`(path: String, part: String)
        throws
    {
        try folder.makeFolder(folder.path + "/Application Support")
        let error = try refusal(folder.path + "/" + path)
        #expect(error.code == .unusableDirectory)
        #expect(
            error.description
                == "The state directory \"\(folder.path)/\(path)\" of manager \"Library\" can't be used: it has the escapes of "
                + "a URL, and \(folder.path)/\(part) doesn't exist: pass path(percentEncoded: false) of the URL, or create that "
                + "folder first. Nothing was run. Pass the absolute path of a folder as "
                + "stateDirectory:."
        )
        #expect(try folder.names() == ["Application Support"])
    }

    @Test func `a folder that stands there under the name with escapes is meant`() throws {
        try folder.makeFolder(folder.path + "/a%20b")
        try folder.makeFolder(folder.path + "/a b")
        for directory in ["/a%20b", "/a%20b/Migrations", "/100%", "/50%_", "/a%zzb", "/a%2", "/%"] {
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
            try DefaultLocation.requireNoEscapes(location)
        }
        #expect(error.description.contains("File name too long (lstat, errno "))
    }
}
