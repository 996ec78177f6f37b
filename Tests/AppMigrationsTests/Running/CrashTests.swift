import AppMigrations
import Foundation
import Testing

/// Real processes die in the middle of a migration and at other named points; the parent looks at what they left.
///
/// The script `Tests/Torture/deaths` does the same at every system call.
@Suite(.temporaryDirectory) struct CrashTests {
    let scratch = TemporaryDirectory.current

    static let versions = ["1.1", "1.2", "1.3"]

    /// Where a process dies, and what the trace holds after the next start.
    static let points = [
        ("firstRun", ["1.1 1", "1.2 1", "1.3 1"]),
        ("started 1.2", ["1.1 1", "1.2 2", "1.3 1"]),
        ("end 1.1", ["1.1 1", "1.1 2", "1.2 1", "1.3 1"]),
        ("end 1.2", ["1.1 1", "1.2 1", "1.2 2", "1.3 1"]),
        ("end 1.3", ["1.1 1", "1.2 1", "1.3 1", "1.3 2"]),
        ("finished 1.2", ["1.1 1", "1.2 1", "1.3 1"]),
        ("finished 1.3", ["1.1 1", "1.2 1", "1.3 1"]),
    ]

    /// One start of an app that may die at a point.
    static func start(_ path: String, dyingAt point: String) throws {
        func pass(_ name: String) { if name == point { die() } }
        let manager = try MigrationManager(
            named: "Library",
            currentVersion: "1.3",
            firstRun: firstRun(dying: point == "firstRun"),
            stateDirectory: path + "/state",
            options: MigrationManager.Options(onEvent: { event in
                if "\(event.kind) \(event.version.map(\.description) ?? "-")" == point { die() }
            })
        )
        for version in versions {
            try manager.whenMigrating(toVersion: version) { context in
                try append("\(version) \(context.attempt)", to: path + "/trace")
                #expect(context.isRetry == (context.attempt > 1))
                pass("end \(version)")
            }
        }
    }

    private static func firstRun(dying: Bool) -> MigrationManager.FirstRun {
        if dying { die() }
        return .existingData(at: "1.0")
    }

    @Test(arguments: points)
    func `a process that dies loses nothing and repeats what was in flight`(
        row: (point: String, trace: [String])
    ) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = scratch.path as String, point = row.point as String] in
            try Self.start(path, dyingAt: point)
        }
        try Self.start(scratch.path, dyingAt: "")
        try Self.expectFinished(scratch, trace: row.trace)
    }

    private static func expectFinished(_ scratch: TemporaryDirectory, trace: [String]) throws {
        #expect(try scratch.read("trace").split(separator: "\n").map(String.init) == trace)
        let manager = try scratch.manager(upgradingTo: "1.3")
        #expect(manager.launch == .same)
        #expect(manager.lastRunVersion.description == "1.3")
        #expect(try manager.status.history.map(\.version.description) == versions)
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
    }

    private func crash(in folder: TemporaryDirectory, migration: String, app: String = "1.4") async {
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, migration = migration as String, app = app as String] in
            let manager = try MigrationManager(named: "Library", currentVersion: app, stateDirectory: path)
            try manager.whenMigrating(toVersion: migration) { kill(getpid(), SIGKILL) }
        }
    }

    @Test func `a migration whose process died runs again, as a retry`() async throws {
        try scratch.writeState(lastRun: "1.1")
        await crash(in: scratch, migration: "1.2")
        #expect(try scratch.stateText().contains("\"attemptCount\" : 1, \"crashCount\" : 0"))
        let manager = try scratch.manager("1.4")
        #expect(manager.lastRunVersion == version("1.1"))
        var attempts: [Int] = []
        try manager.whenMigrating(toVersion: "1.2") { context in
            attempts.append(context.attempt)
            #expect(context.isRetry)
        }
        #expect(attempts == [2])
        #expect(try manager.status.history.map(\.attemptCount) == [2])
    }

    @Test func `the limit of attempts counts deaths, and a new app version starts again`() async throws {
        try scratch.writeState(lastRun: "1.1")
        await crash(in: scratch, migration: "1.2")
        await crash(in: scratch, migration: "1.2")
        let options = MigrationManager.Options(attemptLimit: 2)
        let before = try scratch.stateText()
        let error = try scratch.manager("1.4", options: options).refusal(of: "1.2")
        #expect(error.code == .attemptLimitReached)
        #expect(error.description.contains("2 processes of this app version crashed in it"))
        #expect(try scratch.stateText() == before)
        let newer = try scratch.manager("1.5", options: options)
        try newer.whenMigrating(toVersion: "1.2") { context in #expect(context.attempt == 3) }
        #expect(newer.lastRunVersion == version("1.2"))
    }

    @Test func `the lock of a dead process is free`() async throws {
        try scratch.writeState(lastRun: "1.1")
        await crash(in: scratch, migration: "1.2")
        let options = MigrationManager.Options(lockTimeout: .zero)
        let manager = try scratch.manager("1.4", options: options)
        #expect(try manager.declare("1.2") == ["1.2"])
    }
}
