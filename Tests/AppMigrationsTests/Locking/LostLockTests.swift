import Foundation
import Testing

@testable import AppMigrations

/// What stands at the lock's path changes while a closure runs.
@Suite(.temporaryDirectory) struct LostLockTests {
    let scratch = TemporaryDirectory.current

    private static let advice =
        "Make a new manager, which reads the state again, and never remove the lock's file."

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

    @Test(arguments: [false, true])
    func `a closure that removes the folder of the state is recorded, and those after it run`(
        isProtecting: Bool
    ) throws {
        let log = Log()
        try scratch.write("old", to: "data")
        let paths = isProtecting ? [scratch.file("data")] : []
        let manager = try scratch.manager(upgradingTo: "1.3")
        try manager.whenMigrating(toVersion: "1.1", protecting: paths) {
            try scratch.remove("state")
            try scratch.write("new", to: "data")
        }
        for text in ["1.2", "1.3"] { try manager.whenMigrating(toVersion: text) { log.add(text) } }
        #expect(log.lines == ["1.2", "1.3"])
        #expect(try scratch.read("data") == "new")
        let next = try scratch.manager(upgradingTo: "1.3")
        #expect(try next.status.history.map(\.version.description) == ["1.1", "1.2", "1.3"])
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
    }

    @Test func `so is an asynchronous one, and the answer about a first run`() async throws {
        let manager = try MigrationManager(
            named: "Library",
            currentVersion: "1.3",
            firstRun: {
                try scratch.remove("state")
                return .existingData(at: "1.0")
            }(),
            stateDirectory: scratch.state.path
        )
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
        try await manager.whenMigrating(toVersion: "1.1") {
            await Task.yield()
            try scratch.remove("state")
        }
        #expect(try scratch.manager(upgradingTo: "1.3").lastRunVersion == version("1.1"))
    }

    @Test func `a closure whose data others began anew is recorded nowhere, and theirs stays`() async throws {
        let manager = try scratch.manager(upgradingTo: "1.3")
        var state = ""
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1") {
                try scratch.remove("state")
                await #expect(processExitsWith: .success) { [path = scratch.path as String] in
                    try Self.start(path, ["1.1", "1.2", "1.3"])
                }
                state = try scratch.read("state/Library.migrations.json")
            }
        }
        #expect(error?.code == .stateNotSaved)
        #expect(error?.path == scratch.state.lockFile)
        #expect(
            error?.description
                == "Manager \"Library\" doesn't have the lock \(scratch.state.lockFile) any more: another process has saved a "
                + "state since. Nothing was written to \(scratch.state.stateFile) without it. \(Self.advice) "
                + "Migration 1.1 ran and that was not recorded."
        )
        #expect(try scratch.read("state/Library.migrations.json") == state)
        #expect(throws: MigrationError.self) { try manager.whenMigrating(toVersion: "1.2") {} }
        #expect(try scratch.manager(upgradingTo: "1.3").lastRunVersion == version("1.3"))
    }

    @Test func `without the lock nothing is put back either`() async throws {
        try scratch.write("old", to: "data")
        let manager = try scratch.manager(upgradingTo: "1.3")
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
                try scratch.remove("state")
                await #expect(processExitsWith: .success) { [path = scratch.path as String] in
                    try Self.start(path, ["1.1", "1.2", "1.3"])
                }
                try scratch.write("new", to: "data")
                throw Refusal()
            }
        }
        #expect(error?.code == .protectionFailed)
        #expect(
            error?.description
                == "Manager \"Library\" doesn't have the lock \(scratch.state.lockFile) any more: another process has saved a "
                + "state since. Nothing was written to \(scratch.state.stateFile) without it. \(Self.advice) "
                + "Migration 1.1 failed and that was not recorded, and the files it protects were left as they are. The next "
                + "start puts them back if the state lists them. Don't write to those files before it succeeded. The "
                + "migration itself had failed: Refusal()."
        )
        #expect(try scratch.read("data") == "new")
    }

    @Test func `a closure is recorded whose lock was removed, when nobody else came`() throws {
        try scratch.manager(upgradingTo: "1.3").whenMigrating(toVersion: "1.1") {
            try scratch.remove("state/Library.migrations.lock")
        }
        #expect(try scratch.manager(upgradingTo: "1.3").lastRunVersion == version("1.1"))
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
    }

    @Test func `a lock that others hold by now is not taken from them`() throws {
        let location = StateLocation(name: "Library", directory: scratch.state.path)
        var other: FileLock?
        defer { other?.unlock() }
        var intent = ""
        let error = #expect(throws: MigrationError.self) {
            try scratch.manager(upgradingTo: "1.3").whenMigrating(toVersion: "1.1") {
                try scratch.remove("state/Library.migrations.lock")
                other = try FileLock.ifFree(location)
                intent = try scratch.read("state/Library.migrations.json")
            }
        }
        #expect(
            error?.description
                == "Manager \"Library\" doesn't have the lock \(scratch.state.lockFile) any more: another process has taken "
                + "it since. Nothing was written to \(scratch.state.stateFile) without it. \(Self.advice) "
                + "Migration 1.1 ran and that was not recorded."
        )
        #expect(try scratch.read("state/Library.migrations.json") == intent)
    }

    @Test func `a lock that can't be taken again is an error, and it names the reason`() throws {
        let error = #expect(throws: MigrationError.self) {
            try scratch.manager(upgradingTo: "1.3").whenMigrating(toVersion: "1.1") {
                try scratch.remove("state")
                try scratch.write("", to: "state")
            }
        }
        #expect(error?.code == .stateNotSaved)
        #expect(
            error?.description.hasPrefix(
                "The lock of manager \"Library\", \(scratch.state.lockFile), could not be taken: "
            ) == true
        )
        #expect(error?.description.hasSuffix("Migration 1.1 ran and that was not recorded.") == true)
    }

    /// The folder of the state leads to another one, as a link to the current release of a server's data does.
    @Test func `a state that stands where the path leads by now is not overwritten`() throws {
        try scratch.makeFolder("first")
        try scratch.makeFolder("second")
        try scratch.link("state", to: "second")
        _ = try scratch.manager(upgradingTo: "1.3", firstRun: .existingData(at: "1.2"))
        try scratch.remove("state")
        try scratch.link("state", to: "first")
        let error = #expect(throws: MigrationError.self) {
            try scratch.manager(upgradingTo: "1.3").whenMigrating(toVersion: "1.1") {
                try scratch.remove("state")
                try scratch.link("state", to: "second")
            }
        }
        #expect(error?.code == .stateNotSaved)
        #expect(try scratch.manager(upgradingTo: "1.3").lastRunVersion == version("1.2"))
    }
}
