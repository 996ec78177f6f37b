import Foundation
import Testing

@testable import AppMigrations

/// A closure is running, and only the lock of its list shows it, because the lock's file was removed.
@Suite(.temporaryDirectory) struct StandingClaimTests {
    let scratch = TemporaryDirectory.current

    @Test func `files of a closure that is running are not put back when its lock is removed`() async throws {
        try scratch.write("old", to: "data")
        let manager = try scratch.manager(upgradingTo: "1.3")
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
                try scratch.write("half", to: "data")
                try scratch.remove("state/Library.migrations.lock")
                await #expect(processExitsWith: .success) { [path = scratch.path as String] in
                    let error = #expect(throws: MigrationError.self) {
                        try LostLockTests.start(path, ["1.1"], timeout: .inVain)
                    }
                    #expect(error?.code == .lockTimeout)
                }
                #expect(try scratch.read("data") == "half")
            }
        }
        #expect(error?.code == .protectionFailed)
        _ = try scratch.manager(upgradingTo: "1.3")
        #expect(try scratch.read("data") == "old")
        try scratch.expectNoCopies()
    }

    @Test func `who waits for such a closure puts its files back, and runs`() throws {
        try scratch.write("old", to: "data")
        let waits = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let log = Log()
        let options = MigrationManager.Options { event in
            log.add("\(event.kind)")
            waits.signal()
        }
        #expect(throws: MigrationError.self) {
            try scratch.manager(upgradingTo: "1.3").whenMigrating(
                toVersion: "1.1",
                protecting: [scratch.file("data")]
            ) {
                try scratch.remove("state/Library.migrations.lock")
                Thread.detachNewThread {
                    do {
                        let manager = try scratch.manager(upgradingTo: "1.3", options: options)
                        log.add("ran \(try manager.whenMigrating(toVersion: "1.1") {})")
                    } catch {
                        log.add("\(error)")
                    }
                    ended.signal()
                }
                waits.wait()
                try scratch.write("new", to: "data")
            }
        }
        ended.wait()
        #expect(log.lines == ["waiting", "restored", "started", "finished", "ran true"])
        #expect(try scratch.read("data") == "old")
    }

    /// An asynchronous closure may need the very thread of a synchronous call to go on.
    @Test func `beside an asynchronous closure whose lock was removed a synchronous call is nested`()
        async throws
    {
        try scratch.write("old", to: "data")
        let manager = try scratch.manager(upgradingTo: "1.3")
        await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
                try scratch.remove("state/Library.migrations.lock")
                let other = try await Task.detached {
                    try scratch.manager(upgradingTo: "1.3", options: .init(lockTimeout: .inVain))
                        .refusal(of: "1.2").code
                }.value
                #expect(other == .nested)
                throw Refusal()
            }
        }
    }

    @Test func `a claim that can't be looked at keeps from the lock`() throws {
        let manager = try scratch.manager(upgradingTo: "1.3")
        try scratch.link("state/Library.migrations.snapshot", to: "Library.migrations.snapshot")
        let error = #expect(throws: MigrationError.self) { try manager.whenMigrating(toVersion: "1.1") {} }
        #expect(error?.code == .stateNotSaved)
        #expect(error?.path == scratch.state.snapshot + "/kept")
        #expect(
            error?.description
                == "The lock \(scratch.state.lockFile) of manager \"Library\" (\(scratch.state.stateFile)) could not be taken: "
                + "\(scratch.state.snapshot)/kept: \(String(cString: strerror(ELOOP))) (lstat, errno \(ELOOP)). Migration 1.1 was "
                + "not run. Make the folder and the files in it writable for this process, and start the app again."
        )
    }
}
