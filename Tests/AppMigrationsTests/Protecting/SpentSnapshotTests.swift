import Foundation
import Testing

@testable import AppMigrations

/// A snapshot that nothing needs any more doesn't wait for the next migration to be removed.
@Suite(.temporaryDirectory) struct SpentSnapshotTests {
    let scratch = TemporaryDirectory.current

    /// A process that dies when the migration is recorded and its snapshot not yet removed.
    private static func die(_ scratch: TemporaryDirectory) async {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.path as String] in
            let hook = Rehearsal(reached: { if $0.place == .afterRecord { AppMigrationsTests.die() } })
            let manager = try library("1.1", in: path + "/state")
            try MigrationManager(rehearsing: manager, with: hook)
                .whenMigrating(toVersion: "1.1", protecting: [path + "/data"]) {
                    try append("new", to: path + "/data")
                }
        }
    }

    @Test func `one that a killed process left goes with the next start that takes the lock`() async throws {
        try scratch.write("old\n", to: "data")
        await Self.die(scratch)
        let state = try scratch.read("state/Library.migrations.json")
        #expect(!state.contains("interruption"))
        #expect(try scratch.manager(upgradingTo: "1.1").lastRunVersion.description == "1.1")
        #expect(try scratch.read("state/Library.migrations.json") == state)
        #expect(scratch.exists("state/Library.migrations.snapshot"))
        _ = try scratch.manager(upgradingTo: "1.2")
        #expect(try scratch.read("data") == "old\nnew\n")
        try scratch.expectNoCopies()
    }

    @Test func `one that a killed process left goes with the next start of a gate`()
        async throws
    {
        try scratch.write("old\n", to: "data")
        await Self.die(scratch)
        let state = try scratch.read("state/Library.migrations.json")
        let gate = MigrationGate(
            named: "Library",
            currentVersion: "1.1",
            stateDirectory: scratch.file("state")
        ) { migrations in
            try migrations.whenMigrating(toVersion: "1.1") { Issue.record("It has run.") }
        }
        try await gate.ready()
        #expect(try scratch.read("state/Library.migrations.json") == state)
        #expect(try scratch.read("data") == "old\nnew\n")
        try scratch.expectNoCopies()
    }

    @Test func `one from which files have to be restored stays, and nothing is restored`() async throws {
        try scratch.write("old\n", to: "data")
        let manager = try scratch.manager(upgradingTo: "1.1")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.path as String] in
            try library("1.1", in: path + "/state")
                .whenMigrating(toVersion: "1.1", protecting: [path + "/data"]) {
                    try append("half", to: path + "/data")
                    AppMigrationsTests.die()
                }
        }
        manager.removeLeftoverCopies()
        #expect(try scratch.read("data") == "old\nhalf\n")
        #expect(scratch.exists("state/Library.migrations.snapshot"))
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.read("data") == "old\n")
    }

    @Test func `one that can't be removed is tried again each time, and hinders nothing`() async throws {
        try scratch.write("old\n", to: "data")
        await Self.die(scratch)
        try scratch.remove("state/Library.migrations.snapshot")
        try scratch.write("nobody's", to: "state/Library.migrations.snapshot")
        let events = Log()
        let options = MigrationManager.Options { events.add("\($0.kind)") }
        try scratch.manager(upgradingTo: "1.2", options: options).whenMigrating(toVersion: "1.2") {
            #expect($0.attempt == 1)
        }
        #expect(events.lines == ["leftoverNotRemoved", "leftoverNotRemoved", "started", "finished"])
    }

    /// Only root may give a folder to another user.
    @Test func `another user's folder of copies is moved aside for a new one, and its new place is reported`()
        async throws
    {
        if geteuid() != 0 { return }
        try scratch.write("old\n", to: "data")
        await Self.die(scratch)
        try #require(chown(scratch.file("state/Library.migrations.snapshot"), 65534, 65534) == 0)
        let events = Log()
        let options = MigrationManager.Options { event in
            guard event.kind == .leftoverNotRemoved else { return }
            events.add(event.error?.path ?? "")
            events.add(event.error?.description ?? "")
        }
        let manager = try scratch.manager(upgradingTo: "1.2", options: options)
        try manager.whenMigrating(toVersion: "1.2", protecting: [scratch.file("data")]) {
            try append("newer", to: scratch.file("data"))
        }
        #expect(try scratch.read("data") == "old\nnew\nnewer\n")
        let kept = try #require(try scratch.names("state").first { $0.contains(".kept-") })
        #expect(events.lines.filter { $0.hasSuffix("/" + kept) }.count == 1)
        let text = try #require(events.lines.last)
        #expect(text.contains("are not needed any more, but they could not be removed"))
        #expect(!scratch.exists("state/Library.migrations.snapshot"))
    }
}
