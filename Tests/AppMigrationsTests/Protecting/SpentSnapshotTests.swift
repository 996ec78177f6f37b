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

    @Test(arguments: ["1.0", "1.1", "2.0"])
    func `one that a killed process left goes with the next start`(version: String) async throws {
        try scratch.write("old\n", to: "data")
        await Self.die(scratch)
        #expect(scratch.exists("state/Library.migrations.snapshot"))
        let manager = try scratch.manager(upgradingTo: version)
        #expect(manager.lastRunVersion.description == "1.1")
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
        #expect(try scratch.read("data") == "old\nnew\n")
        let state = try scratch.read("state/Library.migrations.json")
        #expect(!state.contains("interruption"))
        _ = try scratch.manager(upgradingTo: version)
        #expect(try scratch.read("state/Library.migrations.json") == state)
    }

    @Test func `one that can't be removed is tried again at each start, and hinders nothing`() async throws {
        try scratch.write("old\n", to: "data")
        await Self.die(scratch)
        try scratch.remove("state/Library.migrations.snapshot")
        try scratch.write("nobody's", to: "state/Library.migrations.snapshot")
        let events = Log()
        let options = MigrationManager.Options { events.add("\($0.kind) \($0.version?.description ?? "")") }
        for _ in 0..<2 { _ = try scratch.manager(upgradingTo: "1.1", options: options) }
        #expect(events.lines == ["leftoverNotRemoved 1.1", "leftoverNotRemoved 1.1"])
        try scratch.manager(upgradingTo: "1.2").whenMigrating(toVersion: "1.2") {
            #expect($0.attempt == 1)
        }
        try scratch.remove("state/Library.migrations.snapshot")
        _ = try scratch.manager(upgradingTo: "1.2", options: options)
        #expect(events.lines.count == 2)
    }

    @Test func `an earlier interruption of a later version is not lost for it`() throws {
        try scratch.write("old\n", to: "data")
        let manager = try scratch.manager(upgradingTo: "1.2")
        #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.2") { throw Refusal() }
        }
        let again = try scratch.manager(upgradingTo: "1.2")
        try again.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {}
        try again.whenMigrating(toVersion: "1.2") { #expect($0.attempt == 2) }
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
    }
}
