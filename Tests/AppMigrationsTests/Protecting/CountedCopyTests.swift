import Foundation
import Testing

@testable import AppMigrations

/// A process that dies while it copies protected files is counted, as one that dies in a closure is.
@Suite(.temporaryDirectory) struct CountedCopyTests {
    let scratch = TemporaryDirectory.current

    /// Dies at the first progress of the copying, or when all is copied and the intent isn't saved yet.
    private static func die(
        _ scratch: TemporaryDirectory,
        _ app: String = "1.2",
        _ version: String = "1.2",
        atEnd: Bool = false
    )
        async
    {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                path = scratch.path as String, app = app as String, version = version as String,
                atEnd = atEnd as Bool
            ] in
            let options = MigrationManager.Options { if $0.isCopying, !atEnd { AppMigrationsTests.die() } }
            let manager = try library(
                app,
                in: path + "/state",
                firstRun: .existingData(at: "1.0"),
                options: options
            )
            let hook = Rehearsal(reached: { if $0.place == .afterCopying { AppMigrationsTests.die() } })
            try MigrationManager(rehearsing: manager, with: hook)
                .whenMigrating(toVersion: version, minimumAppVersion: "1.1", protecting: [path + "/data"]) {
                    Issue.record("The closure ran.")
                }
        }
    }

    /// Where the lock was held at its start, an app's first attempt saves that it was launched.
    @Test func `a newer app whose files can't be copied has been launched all the same`() throws {
        try scratch.makeFolder("data")
        try #require(mkfifo(scratch.file("data/fifo"), 0o600) == 0)
        var started: MigrationManager?
        try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") {
            started = try scratch.manager(upgradingTo: "1.2")
        }
        let newer = try #require(started)
        #expect(try newer.status.launchedVersion == version("1.1"))
        let error = try #require(throws: MigrationError.self) {
            try newer.whenMigrating(toVersion: "1.2", protecting: [scratch.file("data")]) {}
        }
        #expect(error.code == .protectionFailed)
        #expect(try newer.status.launchedVersion == version("1.2"))
        #expect(try scratch.manager(upgradingTo: "1.1").launch == .downgrade(from: version("1.2")))
    }

    @Test(arguments: [false, true])
    func `the limit of attempts ends a loop of deaths in the copying`(atEnd: Bool) async throws {
        try scratch.write("old", to: "data")
        for _ in 1...3 { await Self.die(scratch, atEnd: atEnd) }
        let options = MigrationManager.Options(attemptLimit: 3)
        let manager = try scratch.manager(upgradingTo: "1.2", options: options)
        let interruption = try #require(try manager.status.interruption)
        #expect(interruption.attempts == 3 && interruption.deaths == 3)
        #expect(!interruption.awaitsRestore)
        #expect(try manager.refusal(of: "1.2").code == .attemptLimitReached)
        // Nothing of the data is changed, and no app is shut out.
        #expect(try scratch.read("data") == "old")
        #expect(try manager.status.minimumAppVersion == nil)
        try manager.resetAttempts()
        try scratch.manager(upgradingTo: "1.2", options: options)
            .whenMigrating(toVersion: "1.2", protecting: [scratch.file("data")]) { context throws in
                #expect(context.attempt == 4)
                #expect(try scratch.read("state/Library.migrations.snapshot/0/item") == "old")
            }
        try scratch.expectNoCopies()
    }

    @Test func `the state says that an attempt is only copying, until a closure of it has begun`()
        async throws
    {
        try scratch.write("old", to: "data")
        func known() throws -> AttemptedMigration? {
            let location = StateLocation(name: "Library", directory: scratch.state.path)
            let versions = try StateFile(location: location).readState()?.versions
            return versions?.interruption?.attempt ?? versions?.attempted.first
        }
        for _ in 1...2 {
            await Self.die(scratch)
            #expect(try known()?.hasBegun == false)
            #expect(try scratch.read("state/Library.migrations.json").contains("\"isCopying\" : true"))
        }
        // What is known of the version stays known while another one is interrupted.
        _ = try scratch.manager(upgradingTo: "1.2").failure(of: "1.1")
        let location = StateLocation(name: "Library", directory: scratch.state.path)
        let versions = try #require(try StateFile(location: location).readState()?.versions)
        #expect(versions.attempted.map(\.hasBegun) == [false])
        #expect(versions.attempted.map(\.deaths) == [2])
        _ = try scratch.manager(upgradingTo: "1.2").declare("1.1")
        _ = try scratch.manager(upgradingTo: "1.2").failure(of: "1.2")
        #expect(try known()?.hasBegun == true)
        #expect(try !scratch.read("state/Library.migrations.json").contains("isCopying"))
        // A closure of it has begun before, whatever its next attempt copies.
        await Self.die(scratch)
        #expect(try known()?.hasBegun == true)
        #expect(try known()?.deaths == 2)
        #expect(try known()?.attempts == 4)
    }

    @Test(arguments: [false, true])
    func `a newer app that died while it copied holds back no older one`(isFollowed: Bool) async throws {
        try scratch.write("old", to: "data")
        await Self.die(scratch, "1.3", "1.3")
        // What was only copied stays known while another version is interrupted.
        if isFollowed { _ = try scratch.manager(upgradingTo: "1.3").failure(of: "1.1") }
        let older = try scratch.manager(upgradingTo: "1.2")
        #expect(try older.plan { try $0.declare("1.1", "1.2") }.map(\.kind) == [.willRun, .willRun])
        #expect(try older.declare("1.1", "1.2") == ["1.1", "1.2"])
        #expect(try scratch.manager(upgradingTo: "1.3").declare("1.3") == ["1.3"])
    }

    /// The last row: another manager has the file.
    @Test(arguments: ["cancelled", "fifo", "conflict"])
    func `a take that is refused leaves the state as it was, with no copies`(reason: String) async throws {
        try scratch.write("old", to: "data/file")
        if reason == "fifo" { try #require(mkfifo(scratch.file("data/fifo"), 0o600) == 0) }
        _ = try scratch.manager(upgradingTo: "1.2").failure(of: "1.2")
        let before = try scratch.read("state/Library.migrations.json")
        let options = MigrationManager.Options { event in
            if event.isCopying, reason == "cancelled" { withUnsafeCurrentTask { $0?.cancel() } }
        }
        let take = { () async -> MigrationError? in
            await Task { () -> MigrationError? in
                do throws(MigrationError) {
                    try await scratch.manager(upgradingTo: "1.2", options: options)
                        .whenMigrating(toVersion: "1.2", protecting: [scratch.file("data")]) {
                            await Task.yield()
                            Issue.record("The closure ran.")
                        }
                    return nil
                } catch {
                    return error
                }
            }.value
        }
        var error: MigrationError?
        if reason == "conflict" {
            let other = try ProtectedManagerTests.other(scratch, "Index")
            try await other.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data/file")]) {
                error = await take()
            }
        } else {
            error = await take()
        }
        #expect(error?.code == (reason == "cancelled" ? .cancelled : .protectionFailed))
        #expect(try scratch.read("state/Library.migrations.json") == before)
        #expect(!scratch.exists("state/Library.migrations.snapshot"))
    }

    /// Nothing more can be written: neither the copies nor that there are none.
    @Test func `a refusal that can't be noted says that the attempt counts`() throws {
        try scratch.write("old", to: "data")
        let obstacle = scratch.state.obstacle
        let options = MigrationManager.Options { event in
            if !event.isCopying { return }
            do {
                try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
            } catch {}
        }
        let manager = try scratch.manager(upgradingTo: "1.1", options: options)
        let error = #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
                Issue.record("It ran.")
            }
        }
        #expect(error?.code == .stateNotSaved)
        #expect(
            error?.description.contains(
                "Migration 1.1 was not run, but the next start counts this attempt as a crash."
            )
                == true,
            "\(error as Any)"
        )
        #expect(!scratch.exists("state/Library.migrations.snapshot"))
        try scratch.remove(obstacle)
        #expect(try scratch.manager(upgradingTo: "1.1").status.interruption?.deaths == 1)
    }
}
