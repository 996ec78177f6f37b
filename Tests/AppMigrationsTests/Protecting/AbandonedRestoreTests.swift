import Foundation
import Testing

@testable import AppMigrations

/// A restore that can't be done is no dead end.
@Suite(.temporaryDirectory) struct AbandonedRestoreTests {
    let scratch = TemporaryDirectory.current

    private static func abandon(_ scratch: TemporaryDirectory, _ directory: String? = nil) throws -> String? {
        try MigrationManager.abandonRestore(named: "Library", stateDirectory: directory ?? scratch.state.path)
    }

    @Test(arguments: ["state", "state/", "link", "link/"])
    func `files stay as they are, their copies are kept, and the migration goes on`(
        directory: String
    ) async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        try scratch.link("link", to: "state")
        let folder = try #require(try Self.abandon(scratch, scratch.file(directory)))
        #expect(folder.hasPrefix(scratch.file(directory) + (directory.hasSuffix("/") ? "" : "/")))
        #expect(try scratch.read("data") == "old\nchanged\n")
        #expect(try String(contentsOfFile: folder + "/0/item", encoding: .utf8) == "old\n")
        let name = try #require(folder.split(separator: "/").last)
        #expect(name.wholeMatch(of: /Library\.migrations\.kept-[0-9]{8}T[0-9]{6}Z/) != nil, "\(name)")
        #expect(try Self.abandon(scratch) == nil)
        try scratch.manager(upgradingTo: "1.1").whenMigrating(
            toVersion: "1.1",
            protecting: [scratch.file("data")]
        ) { context throws in
            #expect(context.attempt == 2)
            #expect(try scratch.read("data") == "old\nchanged\n")
        }
        #expect(
            try scratch.state.names()
                == ["Library.migrations.json", String(name), "Library.migrations.lock"].sorted()
        )
    }

    @Test func `where nothing waits to be put back nothing is made`() throws {
        #expect(try Self.abandon(scratch) == nil)
        #expect(!scratch.exists("state"))
        _ = try scratch.manager(upgradingTo: "1.1")
        let before = try scratch.read("state/Library.migrations.json")
        #expect(try Self.abandon(scratch) == nil)
        #expect(try scratch.read("state/Library.migrations.json") == before)
    }

    @Test func `what did not exist is told from a lost copy`() async throws {
        await ProtectedPathTests.die(in: scratch)
        let folder = try #require(try Self.abandon(scratch))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/0")
        #expect(names.contains("absent") && !names.contains("item"))
    }

    @Test func `a lost copy is given up too`() async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        try scratch.remove("state/Library.migrations.snapshot")
        #expect(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        #expect(try Self.abandon(scratch) == nil)
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.read("data") == "old\nchanged\n")
    }

    /// A clearing program removes what has not been used for long, files first.
    @Test func `a copy whose files were cleared away removes nothing`() async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        try scratch.remove("state/Library.migrations.snapshot/0/item")
        let error = #expect(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        #expect(error?.code == .protectionFailed)
        #expect(error?.path == scratch.state.snapshot)
        #expect(
            error?.description
                == "The files that migration 1.1 protects could not be restored in manager \"Library\" "
                + "(\(scratch.state.stateFile)): the state says that files are to be restored, and the copy of "
                + "\(try scratch.resolved("data")) is not in \(scratch.state.snapshot)/0. No file was restored. Put "
                + "the copies back in their place and start the app again. To abandon the restore, call "
                + "MigrationManager.abandonRestore(named:stateDirectory:lockTimeout:): the files stay as they are."
        )
        #expect(try scratch.read("data") == "old\nchanged\n")
    }

    /// A backup may leave some of the files out, and a program may add some.
    @Test(arguments: ["-0/item-wal", "-0/entries-2", "-1/item/a", "+1/item/b", "-list", "-0", "-1/entries-2"])
    func `a copy that lacks a part, or has more, removes nothing`(change: String) async throws {
        try scratch.write("old\n", to: "data")
        try scratch.write("log", to: "data-wal")
        try scratch.write("old", to: "folder/a")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.path as String] in
            let manager = try library("1.1", in: path + "/state")
            try manager.whenMigrating(toVersion: "1.1", protecting: [path + "/data", path + "/folder"]) {
                try append("changed", to: path + "/data")
                die()
            }
        }
        let part = "state/Library.migrations.snapshot/" + change.dropFirst()
        if change.hasPrefix("-") { try scratch.remove(part) } else { try scratch.write("", to: part) }
        let error = #expect(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        #expect(error?.code == .protectionFailed)
        #expect(error?.path == scratch.state.snapshot)
        #expect(error?.description.contains("No file was restored. Put the copies back") == true)
        #expect(try scratch.read("data") == "old\nchanged\n")
        #expect(try scratch.read("data-wal") == "log")
        #expect(try scratch.read("folder/a") == "old")
    }

    @Test func `a call that was killed before it saved is gone on with`() async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        let before = try scratch.read("state/Library.migrations.json")
        let first = try #require(try Self.abandon(scratch))
        // As a death leaves it: the copies have moved, and the state still lists them.
        try scratch.write(before, to: "state/Library.migrations.json")
        #expect(try Self.abandon(scratch) == first)
        try scratch.write(before, to: "state/Library.migrations.json")
        try scratch.write("another", to: "state/Library.migrations.snapshot/0/item")
        #expect(try Self.abandon(scratch) == first + "-2")
        #expect(try String(contentsOfFile: first + "/0/item", encoding: .utf8) == "old\n")
    }

    @Test func `a state that can't be saved keeps everything, and says what to do`() async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        try scratch.makeFolder("state/Library.migrations.json.tmp")
        let error = #expect(throws: MigrationError.self) { try Self.abandon(scratch) }
        #expect(error?.code == .protectionFailed)
        #expect(
            error?.description.hasPrefix(
                "The restore of migration 1.1 could not be abandoned in manager \"Library\" (\(scratch.state.stateFile)): "
            ) == true
        )
        #expect(
            error?.description.hasSuffix(
                "The copies are kept, and the files were not changed. Fix the problem and call abandonRestore again."
            ) == true
        )
        try scratch.remove("state/Library.migrations.json.tmp")
        let folder = try #require(try Self.abandon(scratch))
        #expect(try String(contentsOfFile: folder + "/0/item", encoding: .utf8) == "old\n")
    }

    @Test func `copies that were given up keep nobody from their files`() async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        // The mark stands where copies can't be moved aside.
        try scratch.makeFolder("state/Library.migrations.snapshot/kept")
        try scratch.state.writeState(lastRun: "1.0")
        let inner = try ProtectedManagerTests.other(scratch, "Zoo")
        let path = scratch.file("data")
        try scratch.migrate(protecting: "else") {
            try inner.whenMigrating(toVersion: "1.1", protecting: [path]) {}
        }
    }

    @Test func `it waits for the lock no longer than it may`() async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        let lock = try #require(
            try FileLock.takeIfFree(at: StateLocation(name: "Library", directory: scratch.state.path))
        )
        let abandon = {
            try MigrationManager.abandonRestore(
                named: "Library",
                stateDirectory: scratch.state.path,
                lockTimeout: .inVain
            )
        }
        let error = #expect(throws: MigrationError.self) { try abandon() }
        #expect(error?.code == .lockTimeout)
        lock.unlock()
        #expect(try abandon() != nil)
    }

    @Test func `a name that is none, a damaged state and a closure of the same state are refused`() throws {
        let error = #expect(throws: MigrationError.self) {
            try MigrationManager.abandonRestore(named: "", stateDirectory: scratch.state.path)
        }
        #expect(error?.code == .invalidName)
        try scratch.write("old\n", to: "data")
        try scratch.migrate(protecting: "data") {
            let error = #expect(throws: MigrationError.self) { try Self.abandon(scratch) }
            #expect(error?.code == .nested)
        }
        try scratch.write("{", to: "state/Library.migrations.json")
        #expect(throws: MigrationError.self) { try Self.abandon(scratch) }
        #expect(try scratch.read("state/Library.migrations.json") == "{")
    }

    @Test func `an error of a restore names the way out`() async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        try scratch.makeFolder("new")
        try FileManager.default.moveItem(atPath: scratch.state.path, toPath: scratch.file("new/state"))
        let error = #expect(throws: MigrationError.self) {
            try library("1.1", in: scratch.file("new/state"), firstRun: .freshInstall)
        }
        let new = scratch.file("new/state")
        #expect(
            error?.description
                == "The files that migration 1.1 protects could not be restored in manager \"Library\" "
                + "(\(new)/Library.migrations.json): the state was moved or copied from \(scratch.state.path) to \(new) without "
                + "\(scratch.file("data")), which would be restored to \(scratch.file("new/data")); move the state back, or move the files "
                + "too. The copies are kept, and the next start tries again to restore the files. Don't write to those files before a start has succeeded. To abandon "
                + "the restore, call MigrationManager.abandonRestore(named:stateDirectory:lockTimeout:): the files stay as they are, "
                + "and the copies are moved to a folder next to the state."
        )
    }
}
