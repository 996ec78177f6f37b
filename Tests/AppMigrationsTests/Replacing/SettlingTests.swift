import Foundation
import Testing

@testable import AppMigrations

/// What a process has left that died while it replaced a folder is told by names alone.
///
/// Without this, a user's folder could be missing for ever, or a migration could run on data that has it.
@Suite(.temporaryDirectory) struct SettlingTests {
    let scratch = TemporaryDirectory.current

    private static let working = ".Notes@Library.migrating"

    private var location: StateLocation {
        StateLocation(name: "Library", directory: scratch.state.path)
    }

    /// What is in the working folder and at the place, what the place holds after the next start, and whether the migration
    /// is recorded then.
    struct Row: Sendable, CustomTestStringConvertible {
        let working: [String]
        let place: String?
        let ends: String
        let isRecorded: Bool
        var isFound = false

        var testDescription: String { "\(working) \(place ?? "-")" }
    }

    static let rows = [
        Row(working: [], place: "old", ends: "old", isRecorded: false),
        Row(working: ["old", "new/Notes/a"], place: "old", ends: "old", isRecorded: false),
        Row(working: ["old/Notes/a", "new/Notes/a"], place: nil, ends: "old", isRecorded: false),
        Row(working: ["old", "ready-2.0/Notes/a"], place: "old", ends: "old", isRecorded: false),
        Row(working: ["old/Notes/a", "ready-2.0/Notes/a"], place: nil, ends: "old", isRecorded: false),
        Row(
            working: ["old/Notes/a", "ready-2.0/Notes/a"],
            place: "other",
            ends: "old",
            isRecorded: false,
            isFound: true
        ),
        Row(working: ["old/Notes/a", "ready-2.0"], place: "new", ends: "new", isRecorded: true),
        Row(working: ["ready-2.0"], place: "new", ends: "new", isRecorded: true),
        // A power failure can lose the new name alone, and somebody can remove what was there.
        Row(working: ["old/Notes/a", "ready-2.0"], place: nil, ends: "old", isRecorded: false),
        Row(
            working: ["old/Notes/a", "ready-2.0/Notes"],
            place: "other",
            ends: "old",
            isRecorded: false,
            isFound: true
        ),
        // A removal was under way: an old folder that is half removed never goes back.
        Row(working: ["old/Notes/a", "gone"], place: "new", ends: "new", isRecorded: false),
    ]

    private func make(_ row: Row, hasAttempt: Bool = true) throws {
        try scratch.makeFolder(Self.working)
        for name in row.working {
            let path = Self.working + "/" + name
            if name.hasSuffix("a") {
                try scratch.write(name.hasPrefix("old") ? "old" : "new", to: path)
            } else {
                try scratch.makeFolder(path)
            }
        }
        if let place = row.place { try scratch.write(place, to: "Notes/a") }
        let attempt = died(
            in: "2.0",
            app: "2.0",
            more: #", "replacing": "../Notes", "minimumAppVersion": "2.0""#
        )
        try scratch.makeFolder("state")
        try scratch.state.writeState(lastRun: "1.0", launched: "2.0", more: hasAttempt ? attempt : "")
    }

    @Test(arguments: rows)
    func `the next start of any version settles it, whether or not it declares the migration`(row: Row) throws
    {
        try make(row)
        let found = Log()
        let options = MigrationManager.Options(onEvent: { if $0.kind == .filesFound { found.add("found") } })
        let manager = try scratch.state.manager("1.5", options: options)
        #expect(try scratch.read("Notes/a") == row.ends)
        #expect(!scratch.exists(Self.working))
        #expect(manager.lastRunVersion == version(row.isRecorded ? "2.0" : "1.0"))
        #expect(manager.requiredAppVersion == (row.isRecorded ? version("2.0") : nil))
        #expect(found.lines.count == (row.isFound ? 1 : 0))
        #expect(try scratch.names().filter { $0.hasPrefix("Notes.found-") }.count == (row.isFound ? 1 : 0))
        #expect(try !scratch.state.stateText().contains("workingFolder"))
    }

    @Test(arguments: rows)
    func `without a state that names it, the next replacement of the path settles it`(row: Row) throws {
        try make(row, hasAttempt: false)
        let manager = try scratch.state.manager("2.0")
        #expect(manager.lastRunVersion == version("1.0"))
        // Nothing is recorded for an attempt that the state doesn't know: the data may be an older backup.
        let ran = try manager.whenMigrating(toVersion: "2.0", replacing: scratch.file("Notes")) { copy, _ in
            #expect(try TemporaryDirectory(path: copy).read("a") == row.ends)
            try TemporaryDirectory(path: copy).write("newest", to: "a")
        }
        #expect(ran)
        #expect(try scratch.read("Notes/a") == "newest")
        #expect(!scratch.exists(Self.working))
    }

    @Test func `an original never goes back over newer data for another migration`() throws {
        try scratch.write("old", to: Self.working + "/old/Notes/a")
        try scratch.write("new", to: Self.working + "/ready-2.0/Notes/a")
        try scratch.write("work", to: "Notes/a")
        try scratch.makeFolder("state")
        try scratch.state.writeState(lastRun: "2.0")
        let events = Log()
        let options = MigrationManager.Options(onEvent: {
            if $0.kind == .leftoverNotRemoved { events.add("\($0)") }
        })
        let manager = try scratch.state.manager("3.0", options: options)
        let ran = try manager.whenMigrating(toVersion: "3.0", replacing: scratch.file("Notes")) { copy, _ in
            let content = try TemporaryDirectory(path: copy).read("a")
            #expect(content == "work")
        }
        #expect(ran)
        #expect(try scratch.read("Notes/a") == "work")
        let left = try #require(scratch.names().first { $0.hasPrefix(".Notes@Library.left-") })
        #expect(try scratch.read(left + "/old/Notes/a") == "old")
        #expect(events.lines.count == 1)
    }

    @Test func `an older state that names the folder of a later migration removes nothing of it`() throws {
        try scratch.write("old", to: Self.working + "/old/Notes/a")
        try scratch.write("new", to: Self.working + "/ready-2.1/Notes/a")
        try scratch.makeFolder("state")
        try scratch.state.writeState(lastRun: "2.0", more: #""workingFolder": "../\#(Self.working)","#)
        _ = try scratch.state.manager("2.1")
        #expect(try scratch.read("Notes/a") == "old")
        #expect(try !scratch.state.stateText().contains("workingFolder"))
    }

    @Test func `an original is kept while nothing is at its place, whatever the state says`() throws {
        try scratch.write("old", to: Self.working + "/old/Notes/a")
        try scratch.makeFolder(Self.working + "/ready-2.0")
        try scratch.makeFolder("state")
        try scratch.state.writeState(lastRun: "2.0")
        let manager = try scratch.state.manager("3.0")
        _ = try manager.whenMigrating(toVersion: "3.0", replacing: scratch.file("Notes")) { _, _ in }
        let left = try #require(scratch.names().first { $0.hasPrefix(".Notes@Library.left-") })
        #expect(try scratch.read(left + "/old/Notes/a") == "old")
    }

    @Test func `the original of a recorded migration is kept, too, while nothing is at its place`() throws {
        try scratch.write("old", to: Self.working + "/old/Notes/a")
        try scratch.makeFolder(Self.working + "/ready-2.0")
        try scratch.makeFolder("state")
        try scratch.state.writeState(lastRun: "2.0", more: #""workingFolder": "../\#(Self.working)","#)
        _ = try scratch.state.manager("2.0")
        let left = try #require(scratch.names().first { $0.hasPrefix(".Notes@Library.left-") })
        #expect(try scratch.read(left + "/old/Notes/a") == "old")
    }

    @Test func `another migration that runs doesn't forget a left-over that can't be looked at`() throws {
        try scratch.link("loop", to: "loop")
        try scratch.makeFolder("state")
        try scratch.state.writeState(lastRun: "2.0", more: #""workingFolder": "../loop/\#(Self.working)","#)
        #expect(try scratch.state.manager("2.1").whenMigrating(toVersion: "2.1") {})
        #expect(try scratch.state.stateText().contains("workingFolder"))
    }

    @Test func `a start that waited for the first run of another process settles what that has left`()
        async throws
    {
        try scratch.makeFolder("state")
        let lock = try #require(try FileLock.takeIfFree(at: location))
        let (waiting, continuation) = AsyncStream<Void>.makeStream()
        let options = MigrationManager.Options(onEvent: { if $0.kind == .waiting { continuation.yield() } })
        let state = scratch.state
        async let second = Task.detached { try state.manager("2.0", options: options).lastRunVersion }.value
        for await _ in waiting { break }
        try make(Self.rows[4])
        lock.unlock()
        #expect(try await second == version("1.0"))
        #expect(try scratch.read("Notes/a") == "old")
    }

    @Test func `what can't be put back is not said to be in its place`() async {
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            let scratch = TemporaryDirectory(path: path)
            try scratch.write("old", to: "closed/" + Self.working + "/old/Notes/a")
            try scratch.write("new", to: "closed/" + Self.working + "/ready-2.0/Notes/a")
            let error = try errorOfReplacingInClosedFolder(of: scratch)
            #expect(error.code == .replacementFailed)
            #expect(error.description.contains("so remove neither"), "\(error)")
            #expect(!error.description.contains("as it was"), "\(error)")
        }
    }

    @Test func `what another attempt has replaced is recorded, and then it is decided again`() throws {
        try makeReplaced()
        let latest = died(in: "2.0", app: "2.0", more: #", "replacing": "../elsewhere/Notes""#)
        try scratch.state.writeState(lastRun: "1.0", more: latest)
        let manager = try scratch.state.manager("1.1")
        let error = #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.1", replacing: scratch.file("Notes")) { _, _ in
                Issue.record("It ran on the data of 2.0.")
            }
        }
        #expect(error?.description.contains("version 2.0 of the app has begun") == true, "\(error)")
        #expect(try scratch.state.manager("2.0").lastRunVersion == version("2.0"))
        #expect(try scratch.read("Notes/a") == "new")
    }

    @Test func `the name of a working folder is compared in bytes`() {
        // U+0600 and the @ after it are one character.
        let folder = WorkingFolder(beside: scratch.file("Notes\u{600}"), of: location)
        #expect(WorkingFolder(at: folder.path, of: location)?.place == folder.place)
    }

    @Test func `what a restored state names, and doesn't record, is left to the declaration`() throws {
        try makeReplaced(by: "2.1")
        try scratch.state.writeState(lastRun: "2.0", more: #""workingFolder": "../\#(Self.working)","#)
        _ = try scratch.state.manager("2.0")
        #expect(try scratch.read(Self.working + "/old/Notes/a") == "old")
        #expect(try !scratch.state.stateText().contains("workingFolder"))
    }

    @Test func `a new item that a lost rename has taken is made again`() throws {
        try scratch.makeFolder(Self.working + "/old")
        try scratch.makeFolder(Self.working + "/ready-2.0")
        try scratch.makeFolder("state")
        let latest = died(in: "2.0", app: "2.0", more: #", "replacing": "../Notes""#)
        try scratch.state.writeState(lastRun: "1.0", more: latest)
        let manager = try scratch.state.manager("2.0")
        #expect(manager.lastRunVersion == version("1.0"))
        let ran = try manager.whenMigrating(toVersion: "2.0", replacing: scratch.file("Notes")) { copy, _ in
            try scratch.write("made", to: copy)
        }
        #expect(ran)
        #expect(try scratch.read("Notes") == "made")
    }

    @Test func `a recorded left-over that can't be looked at refuses no start`() throws {
        try scratch.link("loop", to: "loop")
        try scratch.makeFolder("state")
        try scratch.state.writeState(lastRun: "2.0", more: #""workingFolder": "../loop/\#(Self.working)","#)
        let events = Log()
        let options = MigrationManager.Options(onEvent: {
            if $0.kind == .leftoverNotRemoved { events.add("\($0)") }
        })
        for _ in 1...2 {
            #expect(try scratch.state.manager("2.0", options: options).lastRunVersion == version("2.0"))
        }
        #expect(events.lines.count == 2)
    }

    @Test func `a state that is older than the replacement doesn't count as its record`() throws {
        try makeReplaced()
        let failed = died(in: "2.0", app: "2.0", more: #", "replacing": "../Notes""#)
            .replacing("\"failure\": null", with: "\"failure\": \"no\"")
        try scratch.state.writeState(lastRun: "1.0", more: failed)
        // Somebody has put back the data of that state.
        try scratch.write("backup", to: "Notes/a")
        let manager = try scratch.state.manager("2.0")
        let ran = try manager.whenMigrating(toVersion: "2.0", replacing: scratch.file("Notes")) { copy, _ in
            let content = try TemporaryDirectory(path: copy).read("a")
            #expect(content == "backup")
        }
        #expect(ran)
        // What was replaced may be what the state describes.
        let left = try #require(scratch.names().first { $0.hasPrefix(".Notes@Library.left-") })
        #expect(try scratch.read(left + "/old/Notes/a") == "old")
    }

    @Test func `after resetAttempts, an original that a process has left is still put back`() throws {
        try scratch.write("old", to: Self.working + "/old/Notes/a")
        try scratch.write("new", to: Self.working + "/ready-2.0/Notes/a")
        try scratch.makeFolder("state")
        let latest = died(in: "2.0", app: "2.0", more: #", "replacing": "../Notes""#)
        try scratch.state.writeState(lastRun: "1.0", more: latest)
        let hidden = scratch.file("hidden")
        #expect(rename(scratch.file(Self.working), hidden) == 0)
        try scratch.state.manager("2.0").resetAttempts()
        #expect(rename(hidden, scratch.file(Self.working)) == 0)
        _ = try scratch.state.manager("1.0")
        #expect(try scratch.read("Notes/a") == "old")
        #expect(!scratch.exists(Self.working))
    }

    @Test func `what another version has replaced is no record of this one`() throws {
        try makeReplaced()
        try scratch.state.writeState(lastRun: "2.0")
        let manager = try scratch.state.manager("3.0")
        let ran = try manager.whenMigrating(toVersion: "3.0", replacing: scratch.file("Notes")) { copy, _ in
            let content = try TemporaryDirectory(path: copy).read("a")
            #expect(content == "new")
        }
        #expect(ran)
        #expect(!scratch.exists(Self.working))
    }

    @Test func `a process that died before its record is found after the folder above was renamed`() throws {
        try makeReplaced()
        let latest = died(in: "2.0", app: "2.0", more: #", "replacing": "../Notes""#)
        try scratch.state.writeState(lastRun: "1.0", more: latest)
        for name in ["Notes", Self.working] {
            try scratch.makeFolder("moved")
            #expect(rename(scratch.file(name), scratch.file("moved/\(name)")) == 0)
        }
        let manager = try scratch.state.manager("2.0")
        let ran = try manager.whenMigrating(toVersion: "2.0", replacing: scratch.file("moved/Notes")) {
            _,
            _ in
            Issue.record("It ran twice.")
        }
        #expect(!ran)
        #expect(manager.lastRunVersion == version("2.0"))
        #expect(try scratch.read("moved/Notes/a") == "new")
        #expect(try scratch.names("moved") == ["Notes"])
    }

    @Test func `a failed attempt leaves nothing to settle, even if its path can't be looked at any more`()
        throws
    {
        try scratch.makeFolder("state")
        try scratch.link("loop", to: "loop")
        let failed = died(in: "2.0", app: "2.0", more: #", "replacing": "../loop/Notes""#).replacing(
            "\"failure\": null",
            with: "\"failure\": \"no\""
        )
        try #require(failed.contains("\"failure\": \"no\""))
        try scratch.state.writeState(lastRun: "1.0", launched: "2.0", more: failed)
        #expect(try scratch.state.manager("2.0").lastRunVersion == version("1.0"))
        let died = failed.replacing("\"failure\": \"no\"", with: "\"failure\": null")
        try scratch.state.writeState(lastRun: "1.0", launched: "2.0", more: died)
        #expect(throws: MigrationError.self) { try scratch.state.manager("2.0") }
        // What can't be settled is in nobody's way for ever.
        #expect(try scratch.state.forget() != nil)
        #expect(try scratch.state.manager("2.0").launch == .first)
    }

    /// A process can die after this one started, or while something else had the lock at this one's start.
    @Test(arguments: [false, true])
    func `withLock settles before its closure uses the data, and keeps the lock`(isAwaited: Bool) async throws
    {
        try make(Row(working: ["old/Notes/a", "ready-2.0/Notes/a"], place: nil, ends: "", isRecorded: false))
        let state = scratch.state
        let look = open(state.lockFile, O_RDWR | O_CREAT, 0o600)
        try #require(flock(look, LOCK_EX) == 0)
        let manager = try state.manager("1.5")
        close(look)
        #expect(!scratch.exists("Notes"))
        let check = { @Sendable [scratch, location] () throws in
            #expect(try scratch.read("Notes/a") == "old")
            #expect(try Platform.isLocked(location.lock))
        }
        if isAwaited {
            try await manager.withLock {
                await Task.yield()
                try check()
            }
        } else {
            let withLock: (() throws -> Void) throws -> Void = manager.withLock
            try withLock(check)
        }
        #expect(try !Platform.isLocked(location.lock))
    }

    @Test func `the folders of two paths and managers never have one name`() throws {
        try scratch.write("old", to: ".x@a.b.migrating/old/x/f")
        try scratch.write("new", to: ".x@a.b.migrating/ready-2.0/x/f")
        try scratch.write("old", to: "x.a/f")
        let manager = try MigrationManager(
            named: "b",
            currentVersion: "2.0",
            firstRun: .existingData(at: "1.0"),
            stateDirectory: scratch.file("state")
        )
        #expect(try manager.whenMigrating(toVersion: "2.0", replacing: scratch.file("x.a")) { _, _ in })
        #expect(try scratch.read(".x@a.b.migrating/old/x/f") == "old")
        #expect(try scratch.read(".x@a.b.migrating/ready-2.0/x/f") == "new")
    }

    @Test func `a file that somebody has left in a working folder is in nobody's way`() throws {
        try makeReplaced()
        try scratch.write("", to: Self.working + "/ready-2.0/.DS_Store")
        try scratch.write("", to: Self.working + "/.DS_Store")
        let latest = died(in: "2.0", app: "2.0", more: #", "replacing": "../Notes""#)
        try scratch.state.writeState(lastRun: "1.0", more: latest)
        #expect(try scratch.state.manager("2.0").lastRunVersion == version("2.0"))
        #expect(!scratch.exists(Self.working))
    }

    @Test func `a working folder that the record names is removed, and only a folder of that form`() throws {
        try scratch.write("new", to: "Notes/a")
        for (name, isRemoved) in [(Self.working, true), ("Notes", false), (".Notes@Other.migrating", false)] {
            try scratch.write("old", to: name + "/old/Notes/a")
            try scratch.makeFolder("state")
            try scratch.state.writeState(lastRun: "2.0", more: #""workingFolder": "../\#(name)","#)
            _ = try scratch.state.manager("2.0")
            #expect(scratch.exists(name) == !isRemoved)
            #expect(try !scratch.state.stateText().contains("workingFolder"))
        }
    }

    private static let failed = """
        "otherAttempts": [ { "version": "2.0", "attemptCount": 1, "crashCount": 0, "appVersion": "2.0", "replacing": "../Notes" } ],
        """

    private func makeReplaced(by version: String = "2.0") throws {
        try scratch.write("new", to: "Notes/a")
        try scratch.write("old", to: Self.working + "/old/Notes/a")
        try scratch.makeFolder(Self.working + "/ready-\(version)")
        try scratch.makeFolder("state")
    }

    @Test func `what another release has recorded isn't recorded for an attempt at the same path`() throws {
        try makeReplaced(by: "1.6")
        let working = #""workingFolder": "../\#(Self.working)","#
        try scratch.state.writeState(lastRun: "1.6", more: working + Self.failed)
        let manager = try scratch.state.manager("1.6")
        #expect(manager.lastRunVersion == version("1.6"))
        #expect(!scratch.exists(Self.working))
        #expect(try scratch.read("Notes/a") == "new")
    }

    @Test func `of two attempts at the same path, the one that the names say is recorded`() throws {
        try makeReplaced(by: "1.6")
        let latest = died(in: "1.6", app: "1.6", more: #", "replacing": "../Notes""#)
        try scratch.state.writeState(lastRun: "1.0", more: latest + Self.failed)
        let manager = try scratch.state.manager("2.0")
        #expect(manager.lastRunVersion == version("1.6"))
        #expect(!scratch.exists(Self.working))
        let notes = scratch.file("Notes")
        let ran = try manager.whenMigrating(toVersion: "2.0", replacing: notes) { _, context in
            #expect(context.attempt == 2)
        }
        #expect(ran)
    }

    @Test func `something else at the working folder's name is refused`() throws {
        try scratch.write("old", to: "Notes/a")
        try scratch.write("", to: Self.working)
        let manager = try scratch.manager(upgradingTo: "2.0")
        let error = #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "2.0", replacing: scratch.file("Notes")) { _, _ in }
        }
        #expect(error?.code == .replacementFailed)
        #expect(scratch.exists(Self.working))
    }
}
