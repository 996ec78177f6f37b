import Foundation
import Testing

@testable import AppMigrations

/// `replacing:` makes a migration of a file or a folder all-or-nothing.
///
/// Without it, a crash in a closure leaves data that is neither old nor new. `Tests/Torture/replacing` kills at each system
/// call.
@Suite(.temporaryDirectory) struct ReplacingTests {
    let scratch = TemporaryDirectory.current

    private struct Stop: Error {}

    private static let working = ".Notes@Library.migrating"

    /// A manager of `Notes`, whose state is in a folder beside it.
    private func manager(_ version: String = "2.0", onEvent: (@Sendable (MigrationEvent) -> Void)? = nil)
        throws(MigrationError) -> MigrationManager
    {
        try scratch.manager(upgradingTo: version, options: .init(onEvent: onEvent))
    }

    private func makeNotes() throws {
        try scratch.write("old", to: "Notes/a")
        try scratch.write("old", to: "Notes/sub/b")
    }

    private func expectOld() throws {
        #expect(try scratch.read("Notes/a") == "old")
        #expect(try scratch.read("Notes/sub/b") == "old")
        #expect(!scratch.exists(Self.working))
    }

    @Test func `a folder is replaced by the copy on which the closure worked`() throws {
        try makeNotes()
        let notes = scratch.file("Notes")
        let ran = try manager().whenMigrating(toVersion: "2.0", replacing: notes) { copy, context in
            #expect(copy == scratch.file(Self.working + "/new/Notes"))
            #expect(context.attempt == 1)
            let inner = TemporaryDirectory(path: copy)
            #expect(try inner.read("sub/b") == "old")
            try inner.write("new", to: "a")
            try inner.remove("sub")
            #expect(try scratch.read("Notes/a") == "old")
        }
        #expect(ran)
        #expect(try scratch.names("Notes") == ["a"])
        #expect(try scratch.read("Notes/a") == "new")
        #expect(try scratch.names() == ["Notes", "state"])
        let text = try scratch.state.stateText()
        #expect(text.contains(#""lastRunVersion" : "2.0""#))
        #expect(!text.contains("workingFolder") && !text.contains("latestAttempt"))
        #expect(try !manager().whenMigrating(toVersion: "2.0", replacing: notes) { _, _ in })
    }

    @Test func `a file is replaced, and a link to it stays a link`() async throws {
        try scratch.write("old", to: "dotfiles/settings")
        try scratch.link("settings", to: "dotfiles/settings")
        let migrations = try manager()
        try await migrations.whenMigrating(toVersion: "2.0", replacing: scratch.file("settings")) { copy, _ in
            await Task.yield()
            try Data("new".utf8).write(to: URL(filePath: copy), options: .atomic)
        }
        #expect(try scratch.read("dotfiles/settings") == "new")
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: scratch.file("settings"))
                == "dotfiles/settings"
        )
        #expect(try scratch.names("dotfiles") == ["settings"])
    }

    @Test func `where nothing exists, the closure may make a file or a folder`() throws {
        try manager().whenMigrating(toVersion: "1.5", replacing: scratch.file("Notes")) { copy, _ in
            #expect(!scratch.exists(copy))
            try scratch.write("new", to: copy + "/a")
        }
        #expect(try scratch.read("Notes/a") == "new")
    }

    @Test func `modes, times and links are kept in the copy`() throws {
        try makeNotes()
        try scratch.setMode(0o640, of: "Notes/a")
        try scratch.link("Notes/link", to: "a")
        let date = Date(timeIntervalSince1970: 1_000_000_000)
        for name in ["Notes/a", "Notes"] {
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: scratch.file(name))
        }
        try manager().whenMigrating(toVersion: "2.0", replacing: scratch.file("Notes")) { _, _ in }
        #expect(try scratch.mode("Notes/a") == 0o640)
        for name in ["Notes/a", "Notes"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: scratch.file(name))
            #expect(attributes[.modificationDate] as? Date == date)
        }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: scratch.file("Notes/link")) == "a")
    }

    @Test(arguments: ["Notes/v1", "Notes", "Notes/nothing", "Notes/./v1/"])
    func `a link by which the closure would change the original is refused`(target: String) throws {
        try scratch.write("old", to: "Notes/v1/a")
        try scratch.link("Notes/current", to: scratch.file(target))
        let notes = scratch.file("Notes")
        let error = #expect(throws: MigrationError.self) {
            try manager().whenMigrating(toVersion: "2.0", replacing: notes) { _, _ in Issue.record("It ran.")
            }
        }
        #expect(error?.code == .replacementFailed)
        #expect(
            error?.description.contains("is a link that leads out of the folder and back into it") == true,
            "\(error)"
        )
        #expect(try scratch.read("Notes/v1/a") == "old")
    }

    @Test(arguments: ["up and down", "by another name"])
    func `a link that leads out of the folder and back is refused`(way: String) throws {
        try scratch.write("old", to: "real/Notes/v1/a")
        try scratch.link("alias", to: "real")
        let target =
            way == "by another name"
            ? scratch.file("alias/Notes/v1")
            : String(repeating: "../", count: 40) + scratch.file("real/Notes/v1").dropFirst()
        try scratch.link("real/Notes/current", to: target)
        let notes = scratch.file("real/Notes")
        let error = #expect(throws: MigrationError.self) {
            try manager().whenMigrating(toVersion: "2.0", replacing: notes) { _, _ in Issue.record("It ran.")
            }
        }
        #expect(error?.code == .replacementFailed)
        #expect(error?.description.contains("leads out of the folder and back into it") == true, "\(error)")
    }

    @Test func `a relative link that stays in the folder is copied as it is`() throws {
        try scratch.write("old", to: "Notes/v1/a")
        try scratch.write("old", to: "Notes/v2/a")
        try scratch.link("Notes/v2/former", to: "../v1/Notes")
        #expect(try manager().whenMigrating(toVersion: "2.0", replacing: scratch.file("Notes")) { _, _ in })
        let link = scratch.file("Notes/v2/former")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "../v1/Notes")
    }

    #if os(Linux)
    @Test func `a file of which another number of bytes is read than it has is no copy`() throws {
        // A file of this file system says that it has no bytes.
        let error = #expect(throws: SystemCallError.self) {
            try FileCopier().copy("/proc/version", to: scratch.file("copy")) { _ in }
        }
        #expect(error?.call == "read" && error?.errorNumber == EIO)
    }
    #endif

    @Test func `a folder that can't be renamed because it can't be written to is refused before`() async {
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            let scratch = TemporaryDirectory(path: path)
            try scratch.write("old", to: "Notes/a")
            try scratch.becomeNobody()
            try scratch.setMode(0o555, of: "Notes")
            let error = try #require(throws: MigrationError.self) {
                try scratch.manager(upgradingTo: "2.0").whenMigrating(
                    toVersion: "2.0",
                    replacing: scratch.file("Notes")
                ) { _, _ in Issue.record("ran") }
            }
            #expect(error.code == .replacementFailed)
            #expect(error.description.contains("it is a folder that can't be written to"), "\(error)")
            try scratch.setMode(0o755, of: "Notes")
        }
    }

    @Test func `a link with an absolute path to somewhere else is copied as it is`() throws {
        try scratch.write("old", to: "NotesOfMine/a")
        try scratch.write("old", to: "Notes/a")
        try scratch.link("Notes/other", to: scratch.file("NotesOfMine"))
        let notes = scratch.file("Notes")
        #expect(try manager().whenMigrating(toVersion: "2.0", replacing: notes) { _, _ in })
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: notes + "/other")
        #expect(target == scratch.file("NotesOfMine"))
    }

    @Test func `where nothing is, a closure may make nothing`() throws {
        let notes = scratch.file("Notes")
        let manager = try manager()
        let ran = try manager.whenMigrating(toVersion: "2.0", replacing: notes) { copy, _ in
            #expect(!FileManager.default.fileExists(atPath: copy))
        }
        #expect(ran)
        #expect(manager.lastRunVersion == version("2.0"))
        #expect(!scratch.exists("Notes"))
        #expect(!scratch.exists(Self.working))
    }

    @Test func `another user's link is copied, although its owner can't be kept`() async {
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            let scratch = TemporaryDirectory(path: path)
            try scratch.write("old", to: "Notes/a")
            try scratch.link("Notes/link", to: "nothing")
            try scratch.becomeNobody(but: "Notes/link")
            let notes = scratch.file("Notes")
            let migrations = try scratch.manager(upgradingTo: "2.0")
            try migrations.whenMigrating(toVersion: "2.0", replacing: notes) { _, _ in }
            let target = try FileManager.default.destinationOfSymbolicLink(atPath: notes + "/link")
            #expect(target == "nothing")
        }
    }

    @Test func `a program of another user doesn't become one that runs as this user`() async {
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            let scratch = TemporaryDirectory(path: path)
            try scratch.write("tool", to: "Notes/tool")
            #expect(chmod(scratch.file("Notes/tool"), 0o6755) == 0)
            try scratch.becomeNobody(but: "Notes/tool")
            let notes = scratch.file("Notes")
            let migrations = try scratch.manager(upgradingTo: "2.0")
            try migrations.whenMigrating(toVersion: "2.0", replacing: notes) { _, _ in }
            let status = try FileStatus(ofEntry: notes + "/tool")
            #expect(status.owner == geteuid())
            // In a test that doesn't begin as root, the file is this user's own.
            #expect(geteuid() != 65_534 || status.permissions & 0o6000 == 0)
        }
    }

    @Test func `an error leaves the original, raises no minimum and refuses no older app`() throws {
        try makeNotes()
        let old = try manager("1.5")
        let error = #expect(throws: MigrationError.self) {
            try manager().whenMigrating(
                toVersion: "2.0",
                minimumAppVersion: "2.0",
                replacing: scratch.file("Notes")
            ) { copy, _ in
                try TemporaryDirectory(path: copy).remove("a")
                throw Stop()
            }
        }
        #expect(error?.code == .migrationFailed && error?.underlyingError is Stop)
        try expectOld()
        #expect(try manager("1.5").requiredAppVersion == nil)
        #expect(try old.whenMigrating(toVersion: "1.5") {})
        try manager().whenMigrating(
            toVersion: "2.0",
            minimumAppVersion: "2.0",
            replacing: scratch.file("Notes")
        ) { _, context in
            #expect(context.attempt == 2)
        }
        #expect(try manager("1.5").requiredAppVersion == version("2.0"))
    }

    @Test(
        arguments: [
            ("beside", "beside the copy"), ("nothing", "left nothing at"),
            ("kind", "isn't of the kind that was there"),
        ]
    )
    func `what the closure leaves has to be one item of the same kind`(mistake: String, part: String) throws {
        try makeNotes()
        let error = #expect(throws: MigrationError.self) {
            try manager().whenMigrating(toVersion: "2.0", replacing: scratch.file("Notes")) { copy, _ in
                if mistake == "beside" { return _ = try scratch.write("", to: copy + "-wal") }
                try scratch.remove(copy)
                if mistake == "kind" { try scratch.write("", to: copy) }
            }
        }
        #expect(error?.code == .replacementFailed)
        #expect(error?.description.contains(part) == true, "\(String(describing: error))")
        try expectOld()
        #expect(try manager().status.latestAttempt?.failure?.contains(part) == true)
    }

    @Test(arguments: [true, false])
    func `nothing is replaced or removed once the lock is lost`(throwing: Bool) throws {
        try makeNotes()
        let notes = scratch.file("Notes")
        let migrations = try manager()
        let error = #expect(throws: MigrationError.self) {
            try migrations.whenMigrating(toVersion: "2.0", replacing: notes) { copy, _ in
                try TemporaryDirectory(path: copy).write("new", to: "a")
                try scratch.remove("state/Library.migrations.lock")
                if throwing { throw Stop() }
            }
        }
        #expect(error?.code == .stateNotSaved)
        #expect(try scratch.read("Notes/a") == "old")
        #expect(try scratch.read(Self.working + "/new/Notes/a") == "new")
        _ = try manager()
        try expectOld()
    }

    @Test func `a checkpoint is refused`() throws {
        try makeNotes()
        try manager().whenMigrating(toVersion: "2.0", replacing: scratch.file("Notes")) { _, context in
            let error = #expect(throws: MigrationError.self) { try context.saveCheckpoint(1) }
            #expect(error?.code == .checkpointNotSaved)
        }
    }

    @Test func `what somebody made in an empty place is kept, and reported`() throws {
        let found = Log()
        let migrations = try manager { if $0.kind == .filesFound { found.add($0.note ?? "") } }
        try migrations.whenMigrating(toVersion: "2.0", replacing: scratch.file("Notes")) { copy, _ in
            try scratch.write("new", to: copy + "/a")
            try scratch.write("extension's", to: "Notes/a")
        }
        #expect(try scratch.read("Notes/a") == "new")
        let path = try #require(found.lines.first)
        #expect(found.lines.count == 1 && path.hasPrefix(scratch.file("Notes.found-2")))
        #expect(try scratch.read(path + "/a") == "extension's")
    }

    @Test func `paths that can't be replaced are refused before anything runs`() throws {
        try makeNotes()
        try scratch.write("", to: "store")
        try scratch.write("", to: "store-wal")
        try scratch.link("broken", to: "nothing")
        #expect(mkfifo(scratch.file("Notes/pipe"), 0o600) == 0)
        let rows = [
            ("Notes", "is a FIFO, which can't be copied"), ("store", "it is a database that may be open"),
            ("broken", "it is a link to something that doesn't exist"), ("none/Notes", "doesn't exist"),
            ("state", "it contains the state directory"), ("", "it contains the state directory"),
        ]
        for (name, part) in rows {
            let path = name.isEmpty ? scratch.path : scratch.file(name)
            let error = #expect(throws: MigrationError.self) {
                try manager().whenMigrating(toVersion: "2.0", replacing: path) { _, _ in Issue.record("ran") }
            }
            #expect(error?.code == .replacementFailed)
            #expect(error?.description.contains(part) == true, "\(String(describing: error))")
            #expect(error?.description.contains("Migration 2.0 was not run.") == true)
        }
        for (path, part) in [
            ("Notes", "it is relative"), ("~/Notes", "only a shell replaces ~"), ("", "it is empty"),
        ] {
            let error = #expect(throws: MigrationError.self) {
                try manager().whenMigrating(toVersion: "2.0", replacing: path) { _, _ in }
            }
            #expect(error?.description.contains(part) == true, "\(String(describing: error))")
        }
        #expect(try manager().status.latestAttempt == nil)
    }

    @Test func `a name that would be too long for the file system is refused before anything runs`() throws {
        // .<file name>.Library.left-20261121T035428Z has 255 characters, and one more.
        let (longest, tooLong) = (String(repeating: "n", count: 224), String(repeating: "n", count: 225))
        for name in [longest, tooLong] { try scratch.write("old", to: name + "/a") }
        try manager("1.5").whenMigrating(toVersion: "1.5", replacing: scratch.file(longest)) { _, _ in }
        let error = #expect(throws: MigrationError.self) {
            try manager().whenMigrating(toVersion: "2.0", replacing: scratch.file(tooLong)) { _, _ in
                Issue.record("ran")
            }
        }
        #expect(error?.code == .replacementFailed)
        let text = try #require(error?.description)
        #expect(text.contains("/.\(tooLong)@Library.left-2"), "\(text)")
        #expect(text.contains("File name too long"), "\(text)")
        #expect(
            text.hasSuffix(
                "Migration 2.0 was not run. That name is too long for the file system. Give a shorter one to the file or the "
                    + "folder, or to the manager, or replace the folder that contains it."
            ),
            "\(text)"
        )
        #expect(try manager().status.latestAttempt == nil)
        #expect(try scratch.names() == [longest, tooLong, "state"])
    }

    @Test func `a folder of an overlay's lower layer, which can't be renamed, is refused with a way out`() {
        let location = StateLocation(name: "Library", directory: "/state")
        let cause = SystemCallError(call: "rename", errorNumber: EXDEV, path: "/working/old/Notes")
        let error = MigrationError.notReplaced("/Notes", of: version("2.0"), in: location, because: cause)
        #expect(
            error.leaving(.migration(version("2.0"))).description == """
                "/Notes" can't be replaced for migration 2.0 of manager "Library" (/state/Library.migrations.json): \
                /working/old/Notes: Invalid cross-device link (rename, errno 18). Migration 2.0 was not run. \
                The original is as it was. On an overlay, a folder that came with a container's image can't be renamed: use one that \
                is made at run time.
                """
        )
    }

    @Test func `data at a place that allows no such names don't keep a start from its state`() throws {
        let name = String(repeating: "n", count: 240)
        try scratch.makeFolder("state")
        let attempt = died(in: "2.0", app: "2.0", more: #", "replacing": "../\#(name)""#)
        try scratch.state.writeState(lastRun: "1.0", launched: "2.0", more: attempt)
        #expect(try scratch.state.manager("1.5").lastRunVersion == version("1.0"))
    }
}
