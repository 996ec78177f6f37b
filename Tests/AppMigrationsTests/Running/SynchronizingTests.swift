import Foundation
import Testing

@testable import AppMigrations

/// `synchronize` returns only after the files that a closure wrote are synced to disk.
///
/// The script `Tests/Torture/power-cuts` shows that they are there after a power cut.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct SynchronizingTests {
    let scratch = TemporaryDirectory.current

    private static func fail(_ scratch: TemporaryDirectory, _ paths: String...) throws -> MigrationError {
        let error = try #require(throws: MigrationError.self) {
            try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") { context in
                try context.synchronize(paths)
            }
        }
        #expect(error.code == .migrationFailed)
        return try #require(error.underlyingError as? MigrationError)
    }

    @Test(
        arguments: [
            ("", "it is empty"), ("a\0b", "a path can't contain a NUL character"),
            ("file:///tmp/x", "it is a URL; pass its path(percentEncoded: false)"),
        ]
    )
    func `what is no path can't be synchronized`(path: String, reason: String) throws {
        let error = try Self.fail(scratch, path)
        #expect(error.code == .stateNotSaved)
        #expect(error.path == path)
        #expect(
            error.description.hasPrefix(
                "The files that migration 1.1 of manager \"Library\" (\(scratch.state.stateFile)) wrote could not be synced to disk: \""
            )
        )
        #expect(
            error.description.hasSuffix(
                "\": \(reason). The migration was not recorded, and runs again with the next manager."
            )
        )
    }

    #if os(Linux)
    /// Elsewhere each file has to be synced on its own.
    @Test(arguments: [NSTemporaryDirectory(), "/dev/shm", "/proc/self"])
    func `all of a file system is synced at once where the call reports what was lost`(folder: String) throws
    {
        let file = open(folder, O_RDONLY | O_DIRECTORY)
        try #require(file >= 0)
        defer { close(file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/stat")
        process.arguments = ["--file-system", "--format", "%T", folder]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let kind = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let isKnown = ["ext2/ext3\n", "xfs\n", "btrfs\n"].contains(kind)
        #expect(try Platform.flushFileSystem(of: file) == isKnown)
    }
    #endif

    @Test(arguments: ["missing", "missing/file", "broken"])
    func `a path where nothing is can't be synchronized`(name: String) throws {
        try scratch.link("broken", to: "nowhere")
        let path = scratch.file(name)
        let error = try Self.fail(scratch, path)
        #expect(
            error.description
                == "The files that migration 1.1 of manager \"Library\" (\(scratch.state.stateFile)) wrote could not be synced to disk: "
                + "\(path): No such file or directory (realpath, errno 2). The migration was not recorded, and runs again with the next "
                + "manager."
        )
    }

    @Test func `files, folders, links and what is neither can be synchronized`() throws {
        try scratch.write("a", to: "disk/folder/a")
        try scratch.link("link", to: "disk/folder")
        try scratch.link("disk/folder/" + String(repeating: "x", count: 255), to: "nowhere")
        try #require(mkfifo(scratch.file("disk/folder/fifo"), 0o600) == 0)
        try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") { context in
            try context.synchronize([
                scratch.file("disk/folder/a"),
                scratch.file("disk/folder"),
                scratch.file("link"),
                scratch.file("link/"),
                scratch.file("link/a"),
                scratch.path,
            ])
            try context.synchronize([])
        }
    }

    /// To close a file takes the locks away that its process has on it, so it isn't opened: here it can't be.
    @Test(arguments: ["-wal", "-shm", "-journal"], ["data/db", "data/db\u{600}"])
    func `a database in use is left to SQLite`(ending: String, name: String) async {
        await #expect(processExitsWith: .success) { [ending = ending as String, name = name as String] in
            let scratch = try TemporaryDirectory()
            try scratch.becomeNobody()
            try scratch.write("", to: name)
            try scratch.setMode(0, of: name)
            #expect(try Self.fail(scratch, scratch.file("data")).path == scratch.file(name))
            try scratch.write("", to: name + ending)
            if ending == "-shm" { try scratch.setMode(0, of: name + ending) }
            try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") { context in
                try context.synchronize([scratch.file("data"), scratch.file(name)])
            }
        }
    }

    /// The working directory is the process's, so a process of its own changes it.
    @Test func `what lies in the working directory is named without it`() async throws {
        await #expect(processExitsWith: .success) {
            try withTemporaryDirectory { scratch throws in
                try scratch.write("a", to: "folder/a")
                try #require(chdir(scratch.file("folder")) == 0)
                try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") { context in
                    try context.synchronize(["a", "./a", ".", "../folder"])
                }
            }
        }
    }

    /// The root user may open everything, so the process becomes another user's.
    @Test func `work that can't be synced to disk is not recorded`() async throws {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            try scratch.write("old", to: "closed/data/file")
            // Its names can be used, and not listed.
            try scratch.setMode(0o111, of: "closed")
            try scratch.becomeNobody(but: "closed")
            let path = scratch.file("closed/data")
            let error = try #require(throws: MigrationError.self) {
                try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") { context in
                    try scratch.write("new", to: "closed/data/file")
                    try scratch.setMode(0, of: "closed/data")
                    try context.synchronize([path])
                }
            }
            #expect(error.code == .migrationFailed, "\(error)")
            let cause = try #require(error.underlyingError as? MigrationError)
            #expect(cause.code == .stateNotSaved, "\(error)")
            #expect(cause.path == path)
            #expect(
                cause.description
                    == "The files that migration 1.1 of manager \"Library\" (\(scratch.state.stateFile)) wrote could not be synced to "
                    + "disk: \(path): Permission denied (open, errno 13). The migration was not recorded, and runs again with the next "
                    + "manager.",
                "\(error)"
            )
            try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") {
                #expect($0.attempt == 2)
            }
        }
    }

    @Test func `a folder above that this user may only look at hinders nothing`() async throws {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            try scratch.write("old", to: "closed/mine/data")
            // Its names can be used, and neither listed nor changed.
            try scratch.setMode(0o111, of: "closed")
            try scratch.becomeNobody(but: "closed")
            try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") { context in
                try scratch.write("new", to: "closed/mine/data")
                try context.synchronize([scratch.file("closed/mine/data")])
            }
            #expect(try scratch.read("closed/mine/data") == "new")
        }
    }
}
