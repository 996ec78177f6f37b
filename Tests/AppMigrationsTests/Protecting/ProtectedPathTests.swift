import Foundation
import Testing

@testable import AppMigrations

/// The refusals of `protecting:` before anything runs, and how the next start finds the files again.
@Suite(.temporaryDirectory) struct ProtectedPathTests {
    let scratch = TemporaryDirectory.current

    static let refused: [(String, String)] = [
        ("", "it is empty"),
        ("file:///tmp/x", "it is a URL; pass its path(percentEncoded: false)"),
        ("a\0b", "a path can't contain a NUL character"),
        ("~/data", "only a shell replaces ~ with the home folder; pass the whole path"),
        ("state", "the state directory is in it"),
        (".", "the state directory is in it"),
        ("state/.", "the state directory is in it"),
        ("state/Library.migrations.json", "this library keeps its state there"),
        ("state/Library.migrations.lock", "this library keeps its state there"),
        ("state/Library.migrations.snapshot", "this library keeps its state there"),
        ("state/Library.migrations.snapshot/0", "this library keeps its state there"),
    ]

    @Test(arguments: refused)
    func `a path that can't be protected is refused before anything runs`(name: String, reason: String) throws
    {
        let isPlain = !name.isEmpty && !name.hasPrefix("file:") && !name.hasPrefix("~")
        let error = try scratch.manager(upgradingTo: "1.1")
            .refusal(protecting: isPlain ? scratch.file(name) : name)
        #expect(error.description.contains(reason), "\(error)")
        let end =
            "The migration was not run and no file was changed. Fix the problem and create a new manager."
        #expect(error.description.hasSuffix(end))
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
    }

    @Test(arguments: ["db-wal/state", "db//../state", "db/link"])
    func `a state directory in what is protected, or reached through it, is refused`(name: String) throws {
        for folder in ["db", "state"] { try scratch.makeFolder(folder) }
        try scratch.link("db/link", to: "../state")
        let manager = try library("1.1", in: scratch.file(name))
        let error = try manager.refusal(protecting: scratch.file("db"))
        #expect(error.description.contains("the state directory is in it"))
    }

    @Test func `a folder that holds the state of a manager is refused`() throws {
        try scratch.write("old", to: "data/notes")
        let inside = scratch.file("data/in")
        _ = try MigrationManager(named: "Inner", currentVersion: "1", stateDirectory: inside)
        for path in ["data", "data/in/Inner.migrations.json"] {
            let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: scratch.file(path))
            let reason =
                "it contains the state of a manager, \(try scratch.resolved("data/in/Inner.migrations.json"))"
            #expect(error.description.contains(reason), "\(error)")
        }
        try scratch.expectNoCopies()
    }

    /// Else its migrations would run twice.
    @Test func `a state that was made inside protected files is kept with the copies, and told`() throws {
        try scratch.write("old", to: "data/notes")
        let told = Log()
        let options = MigrationManager.Options {
            if $0.kind == .leftoverNotRemoved { told.add($0.error?.description ?? "") }
        }
        let error = try scratch.fail(protecting: [scratch.file("data")], options: options) {
            _ = try MigrationManager(
                named: "Inner",
                currentVersion: "1",
                stateDirectory: scratch.file("data/in")
            )
        }
        #expect(error.code == .migrationFailed)
        #expect(try scratch.names("data") == ["notes"])
        let kept = try #require(try scratch.kept())
        #expect(scratch.exists(kept + "/0/replaced-1/in/Inner.migrations.json"))
        #expect(
            told.lines == [
                "While protected files of manager \"Library\" (\(scratch.state.stateFile)) were restored, files were replaced that "
                    + "contain the state of another manager. They are kept at \(scratch.file(kept)). This library neither restores nor "
                    + "removes them. Compare them with your data, then remove them."
            ]
        )
    }

    @Test(arguments: ["fifo", "folder"])
    func `a special file is refused before anything runs`(name: String) throws {
        try scratch.makeFolder("folder")
        try #require(mkfifo(scratch.file(name == "fifo" ? "fifo" : "folder/fifo"), 0o600) == 0)
        let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: scratch.file(name))
        let path = try scratch.resolved(name == "fifo" ? "fifo" : "folder/fifo")
        #expect(error.description.contains("because \(path) is a FIFO, which can't be copied"), "\(error)")
        #expect(!scratch.exists("state/Library.migrations.snapshot"))
    }

    @Test(.enabled(if: geteuid() == 0), arguments: [("a socket", S_IFSOCK), ("a device", S_IFCHR)])
    func `a socket and a device are refused by that word`(word: String, kind: mode_t) throws {
        try scratch.makeFolder("folder")
        try #require(mknod(scratch.file("folder/special"), kind | 0o600, dev_t(0x0103)) == 0)
        let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: scratch.file("folder"))
        #expect(error.description.contains("folder/special is \(word), which can't be copied"), "\(error)")
    }

    /// Users have files of every name.
    static let notStates = [
        "my notes on migrations", "[]", "{}", "", "{ \"format\": 1, \"name\": \"Other\" }",
        "{ \"name\": \"db\" }",
        "{ \"format\": \"1\", \"name\": \"db\" }", "{\n  \"format\" : 1,\n  \"name\" : \"dbs\",\n",
    ]

    @Test(arguments: notStates)
    func `a file that only has the name of a state is protected like any other`(text: String) throws {
        try scratch.write(text, to: "data/db.migrations.json")
        let told = Log()
        let options = MigrationManager.Options { if $0.kind == .leftoverNotRemoved { told.add("\($0)") } }
        for _ in 1...2 {
            try scratch.expectPutBack(protecting: [scratch.file("data")], options: options) {
                try scratch.write(text + "!", to: "data/db.migrations.json")
                try scratch.write(text, to: "data/inner/db.migrations.json")
            }
        }
        #expect(try scratch.read("data/db.migrations.json") == text)
        #expect(told.lines == [])
        try scratch.migrate(protecting: "data/db.migrations.json")
    }

    /// Its own format is another, or it is damaged: somebody may repair it.
    static let states = [
        "{ \"name\": \"db\", \"format\": 99 }",
        "{\n  \"format\" : 1,\n  \"name\" : \"db\",\n  \"lastRun",
    ]

    @Test(arguments: states)
    func `a state counts by its head, whatever comes after it`(text: String) throws {
        try scratch.write(text, to: "data/db.migrations.json")
        let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: scratch.file("data"))
        let path = try scratch.resolved("data/db.migrations.json")
        #expect(error.description.contains("it contains the state of a manager, \(path)"), "\(error)")
    }

    #if os(Linux)
    /// What a closure made immutable goes like everything else that it made.
    @Test(.enabled(if: geteuid() == 0), arguments: ["file", "folder", "top"])
    func `an immutable file that the closure left keeps no copies`(kind: String) throws {
        try scratch.write("old", to: "data/file")
        let told = Log()
        let options = MigrationManager.Options { if $0.kind == .leftoverNotRemoved { told.add("\($0)") } }
        for _ in 1...2 {
            var isSet = false
            let error = try scratch.fail(protecting: [scratch.file("data")], options: options) {
                try scratch.write("half", to: "data/file")
                try scratch.write("new", to: "data/made/file")
                let names = ["file": "data/made/file", "folder": "data/made", "top": "data"]
                isSet = scratch.setImmutable(names[kind] ?? "")
            }
            // Not every file system has it.
            if !isSet { return }
            #expect(error.code == .migrationFailed, "\(error)")
            #expect(try scratch.names("data") == ["file"])
            #expect(try scratch.read("data/file") == "old")
        }
        #expect(told.lines == [])
        try scratch.expectNoCopies()
    }
    #endif

    /// A process that changes a protected file and dies.
    static func die(in scratch: TemporaryDirectory) async {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.path as String] in
            let manager = try library("1.1", in: path + "/state")
            try manager.whenMigrating(toVersion: "1.1", protecting: [path + "/data"]) {
                try append("changed", to: path + "/data")
                kill(getpid(), SIGKILL)
            }
        }
    }

    /// Dies in a migration that protects a file which was there before.
    static func die(in scratch: TemporaryDirectory, having text: String) async throws {
        try scratch.write(text, to: "data")
        await die(in: scratch)
    }

    @Test(arguments: ["1.0", "1.1", "2.0"])
    func `the next start of any app version puts the files back in init`(version: String) async throws {
        try await Self.die(in: scratch, having: "old\n")
        #expect(try scratch.read("data") == "old\nchanged\n")
        _ = try scratch.manager(upgradingTo: version)
        #expect(try scratch.read("data") == "old\n")
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
        try scratch.write("newer\n", to: "data")
        _ = try scratch.manager(upgradingTo: version)
        #expect(try scratch.read("data") == "newer\n")
    }

    @Test func `a restore that fails throws at every start and keeps the copy until it succeeds`()
        async throws
    {
        try await Self.die(in: scratch, having: "old\n")
        try FileManager.default.moveItem(atPath: scratch.state.snapshot, toPath: scratch.file("away"))
        for _ in 0..<2 {
            let error = #expect(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
            #expect(error?.code == .protectionFailed)
            #expect(error?.path == scratch.state.snapshot)
            #expect(try scratch.read("data") == "old\nchanged\n")
        }
        try FileManager.default.moveItem(atPath: scratch.file("away"), toPath: scratch.state.snapshot)
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.read("data") == "old\n")
    }

    @Test func `a manager made while another one is migrating touches nothing`() throws {
        let path = try scratch.write("old", to: "data")
        try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1", protecting: [path]) {
            try scratch.write("new", to: "data")
            // A newer app, which would put files back and save its version if it had the lock.
            _ = try scratch.manager(upgradingTo: "2.0")
            #expect(try scratch.read("data") == "new")
            #expect(scratch.exists("state/Library.migrations.snapshot"))
        }
        #expect(try scratch.read("data") == "new")
        #expect(!scratch.exists("state/Library.migrations.snapshot"))
    }

    @Test func `a snapshot without an intent is cleared by the next holder of the lock`() throws {
        let log = Log()
        _ = try scratch.manager(upgradingTo: "1.1", firstRun: .everything)
        try scratch.write("never", to: "state/Library.migrations.snapshot/0/item")
        try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") { log.add("ran") }
        #expect(log.lines == ["ran"])
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
    }

    @Test func `an error of any length leaves a state that can be read`() throws {
        struct Long: Error, CustomStringConvertible {
            var description: String { "e" + String(repeating: "\u{301}", count: 2 << 20) }
        }
        let log = Log()
        let manager = try scratch.manager(upgradingTo: "1.1")
        #expect(throws: MigrationError.self) { try manager.whenMigrating(toVersion: "1.1") { throw Long() } }
        try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") { context in
            log.add("\(context.attempt)")
        }
        #expect(log.lines == ["2"])
    }
}
