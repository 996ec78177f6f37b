import AppMigrations
import Foundation
import Testing

/// The file at the lock's path changes while a closure runs: nothing is written without the lock.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct LostLockTests {
    let scratch = TemporaryDirectory.current

    /// Starts an app as another process does, and leaves with what it found.
    static func start(_ path: String, _ versions: [String], current: String = "1.3", timeout: Duration? = nil)
        throws
    {
        let manager = try library(current, in: path + "/state", options: .init(lockTimeout: timeout))
        for version in versions {
            try manager.whenMigrating(toVersion: version) {
                try append("other \(version)", to: path + "/trace")
            }
        }
    }

    private static func expectLost(
        _ error: MigrationError?,
        _ scratch: TemporaryDirectory,
        isThrowing: Bool = false
    ) {
        #expect(error?.code == .stateNotSaved)
        #expect(error?.path == scratch.state.lockFile)
        #expect(
            error?.description
                == "The lock of manager \"Library\" (\(scratch.state.stateFile)) is lost: its file was removed or replaced. Since "
                + "then, nothing was written to the state. Migration 1.1 "
                + "\(isThrowing ? "failed, and its failure" : "ran, but") was not recorded."
                + "\(isThrowing ? " The error of the migration: Refusal()." : "") Never remove or replace "
                + "\(scratch.state.lockFile). Create a new manager, which reads the state again."
        )
    }

    @Test(arguments: ["state", "state/Library.migrations.lock"])
    func `a closure that removes the lock is not recorded, and runs again`(name: String) throws {
        let manager = try scratch.manager(upgradingTo: "1.3")
        let error = #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.1") {
                try scratch.remove(name)
                try scratch.write("new", to: "data")
            }
        }
        Self.expectLost(error, scratch)
        #expect(try manager.refusal(of: "1.2").code == .managerClosed)
        #expect(try scratch.read("data") == "new")
        try scratch.manager(upgradingTo: "1.3").whenMigrating(toVersion: "1.1") { context throws in
            #expect(context.isRetry == (name != "state"))
        }
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
    }

    @Test func `nor is the answer about a first run saved then`() async throws {
        let error = #expect(throws: MigrationError.self) {
            try MigrationManager(
                named: "Library",
                currentVersion: "1.3",
                firstRun: {
                    try scratch.remove("state")
                    return .existingData(at: "1.0")
                }(),
                stateDirectory: scratch.state.path
            )
        }
        #expect(error?.code == .stateNotSaved)
        #expect(!scratch.exists("state"))
    }

    @Test(arguments: [false, true])
    func `a closure whose state others began anew is not recorded`(isThrowing: Bool) async throws {
        let manager = try scratch.manager(upgradingTo: "1.3")
        var state = ""
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1") {
                try scratch.remove("state")
                await #expect(processExitsWith: .success) { [path = scratch.path as String] in
                    try Self.start(path, ["1.1", "1.2", "1.3"])
                }
                state = try scratch.read("state/Library.migrations.json")
                if isThrowing { throw Refusal() }
            }
        }
        Self.expectLost(error, scratch, isThrowing: isThrowing)
        #expect(error?.underlyingError is Refusal == isThrowing)
        #expect(try scratch.read("state/Library.migrations.json") == state)
        #expect(try scratch.manager(upgradingTo: "1.3").lastRunVersion == version("1.3"))
    }
}
