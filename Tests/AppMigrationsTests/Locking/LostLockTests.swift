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
        isProtecting: Bool,
        _ end: String
    ) {
        #expect(error?.code == (isProtecting ? .protectionFailed : .stateNotSaved))
        #expect(error?.path == scratch.state.lockFile)
        let kept =
            isProtecting
            ? " The files that it protects were left as they are. If the state still says that they have to be "
                + "restored, the next start restores them. Don't write to those files before that start has succeeded."
            : ""
        #expect(
            error?.description
                == "The lock of manager \"Library\" (\(scratch.state.stateFile)) is lost: its file was removed or replaced. Since "
                + "then, nothing was written to the state. Migration 1.1 "
                + "\(end == "ran" ? "ran, but" : "failed, and its failure") was not recorded.\(kept)"
                + "\(end == "failed" ? " The error of the migration: Refusal()." : "") Never remove or replace "
                + "\(scratch.state.lockFile). Create a new manager, which reads the state again."
        )
    }

    @Test(arguments: [false, true], ["state", "state/Library.migrations.lock"])
    func `a closure that removes the lock is not recorded, and runs again`(isProtecting: Bool, name: String)
        throws
    {
        try scratch.write("old", to: "data")
        let paths = isProtecting ? [scratch.file("data")] : []
        let manager = try scratch.manager(upgradingTo: "1.3")
        let error = #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.1", protecting: paths) {
                try scratch.remove(name)
                try scratch.write("new", to: "data")
            }
        }
        Self.expectLost(error, scratch, isProtecting: isProtecting, "ran")
        #expect(try manager.refusal(of: "1.2").code == .managerClosed)
        #expect(try scratch.read("data") == "new")
        try scratch.manager(upgradingTo: "1.3").whenMigrating(toVersion: "1.1") {
            context throws in
            #expect(context.isRetry == (name != "state"))
            #expect(try scratch.read("data") == (isProtecting && name != "state" ? "old" : "new"))
        }
        try scratch.expectNoCopies()
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
    func `a closure whose data others began anew is neither recorded nor put back`(isThrowing: Bool)
        async throws
    {
        try scratch.write("old", to: "data")
        let manager = try scratch.manager(upgradingTo: "1.3")
        var state = ""
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
                try scratch.remove("state")
                await #expect(processExitsWith: .success) { [path = scratch.path as String] in
                    try Self.start(path, ["1.1", "1.2", "1.3"])
                }
                state = try scratch.read("state/Library.migrations.json")
                try scratch.write("new", to: "data")
                if isThrowing { throw Refusal() }
            }
        }
        Self.expectLost(error, scratch, isProtecting: true, isThrowing ? "failed" : "ran")
        #expect(error?.underlyingError is Refusal == isThrowing)
        #expect(try scratch.read("state/Library.migrations.json") == state)
        #expect(try scratch.manager(upgradingTo: "1.3").lastRunVersion == version("1.3"))
        #expect(try scratch.read("data") == "new")
    }
}
