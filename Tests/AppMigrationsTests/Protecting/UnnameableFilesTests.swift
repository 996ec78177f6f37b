import AppMigrations
import Foundation
import Testing

/// Names that no text can give, and paths that are longer than the system takes: no copy could be made of them.
@Suite(.temporaryDirectory) struct UnnameableFilesTests {
    let scratch = TemporaryDirectory.current

    // Apple's file systems refuse names that are no text, and have shorter paths.
    #if os(Linux)
    static let kinds = ["file", "folder", "deep"]

    /// Makes something in a folder that no path can name.
    private static func make(_ kind: String, in folder: String) throws {
        if kind == "deep" { return try makeDeep(folder) }
        let path = Array((folder + "/caf").utf8CString.dropLast()) + [-23, 0]
        if kind == "folder" { return try #require(mkdir(path, 0o700) == 0) }
        let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
        try #require(descriptor >= 0)
        close(descriptor)
    }

    /// Thirty folders in each other, whose names have 200 bytes.
    private static func makeDeep(_ path: String) throws {
        let level = String(repeating: "d", count: 200)
        var folder = open(path, O_RDONLY | O_DIRECTORY)
        defer { close(folder) }
        for _ in 0..<30 {
            try #require(mkdirat(folder, level, 0o700) == 0)
            let next = openat(folder, level, O_RDONLY | O_DIRECTORY)
            close(folder)
            folder = next
        }
    }

    /// Foundation can't remove what is so deep.
    private static func remove(_ path: String) throws {
        try Process.run(URL(filePath: "/bin/rm"), arguments: ["-rf", path]).waitUntilExit()
    }

    @Test(arguments: kinds)
    func `they are refused before anything runs`(kind: String) throws {
        try scratch.write("old", to: "data/inner/file")
        try Self.make(kind, in: scratch.file("data/inner"))
        let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: scratch.file("data"))
        let inner = try scratch.resolved("data/inner")
        #expect(error.path?.hasPrefix(inner) == true)
        let reason =
            kind == "deep"
            ? ": File name too long (" : "contains a name that is not UTF-8, which no path can express. "
        #expect(error.description.contains(reason), "\(error)")
        try scratch.expectNoCopies()
        try Self.remove(scratch.file("data"))
    }

    /// The states of two file systems: on another one the closure's files can't be moved away as a whole.
    private static func onEach(
        _ scratch: TemporaryDirectory,
        _ isElsewhere: Bool,
        _ body: (TemporaryDirectory) throws -> Void
    ) throws {
        if !isElsewhere { return try body(scratch) }
        try withTemporaryDirectory(in: TemporaryDirectory.memory) { other throws in
            try body(other)
            // Foundation can't remove what is so deep.
            try Self.remove(other.file("data"))
        }
    }

    @Test(arguments: kinds, [false, true])
    func `what a closure that throws made of them goes, and the old files are back`(
        kind: String,
        isElsewhere: Bool
    ) throws {
        try Self.onEach(scratch, isElsewhere) { files in
            try files.write("old", to: "data/file")
            let told = Log()
            let options = MigrationManager.Options { if $0.kind == .leftoverNotRemoved { told.add("\($0)") } }
            try scratch.expectPutBack(protecting: [files.file("data")], options: options) {
                try files.write("half", to: "data/file")
                try Self.make(kind, in: files.file("data"))
            }
            #expect(try files.names("data") == ["file"])
            #expect(try files.read("data/file") == "old")
            #expect(told.lines == [])
        }
    }

    @Test(arguments: kinds, [false, true])
    func `a closure that returns may leave them`(kind: String, isElsewhere: Bool) throws {
        try Self.onEach(scratch, isElsewhere) { files in
            try files.write("old", to: "data/file")
            try scratch.manager(upgradingTo: "1.1").whenMigrating(
                toVersion: "1.1",
                protecting: [files.file("data")]
            ) {
                context in
                try files.write("new", to: "data/file")
                try Self.make(kind, in: files.file("data"))
                try context.synchronize(files.file("data"))
            }
            #expect(try scratch.manager(upgradingTo: "1.1").lastRunVersion.description == "1.1")
            #expect(try files.read("data/file") == "new")
            try scratch.expectNoCopies()
        }
        try Self.remove(scratch.file("data"))
    }

    /// The entries of such a folder are put back one by one.
    ///
    /// The test runs as another user, since root may write into every folder.
    @Test(arguments: kinds)
    func `they go from a folder that can't be moved as a whole`(kind: String) async {
        await #expect(processExitsWith: .success) { [kind = kind as String] in
            let scratch = try TemporaryDirectory()
            try scratch.write("old", to: "closed/data/file")
            try scratch.becomeNobody()
            try scratch.setMode(0o500, of: "closed")
            try scratch.expectPutBack(protecting: [scratch.file("closed/data")]) {
                try scratch.write("half", to: "closed/data/file")
                try Self.make(kind, in: scratch.file("closed/data"))
            }
            #expect(try scratch.names("closed/data") == ["file"])
            #expect(try scratch.read("closed/data/file") == "old")
        }
    }

    @Test func `one beside the state hinders nobody`() throws {
        try scratch.write("old", to: "data")
        try scratch.makeFolder("state")
        try Self.make("file", in: scratch.state.path)
        let isRun = try scratch.manager(upgradingTo: "1.1")
            .whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {}
        #expect(isRun)
    }
    #endif

    @Test func `more folders in each other than a process may have files open come back`() async throws {
        await #expect(processExitsWith: .success) { [folder = scratch.path as String] in
            let scratch = TemporaryDirectory(path: folder)
            try scratch.allowOpenFiles(100)
            let path = String(repeating: "d/", count: 300)
            try scratch.write("old", to: "data/" + path + "file")
            try scratch.expectPutBack(protecting: [scratch.file("data")]) {
                try scratch.write("new", to: "data/" + path + "file")
                try scratch.write("new", to: "data/d/other")
            }
            #expect(try scratch.read("data/" + path + "file") == "old")
            #expect(try scratch.names("data/d") == ["d"])
        }
    }
}

extension TemporaryDirectory {
    /// Bounds the files that this process may have open at once.
    fileprivate func allowOpenFiles(_ count: rlim_t) throws {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        try #require(getrlimit(resource, &limit) == 0)
        limit.rlim_cur = count
        try #require(setrlimit(resource, &limit) == 0)
    }
}
