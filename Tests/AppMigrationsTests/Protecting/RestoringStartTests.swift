import Foundation
import Testing

@testable import AppMigrations

/// A start that meets protected files of a closure which has ended waits until they are what they were: what the app
/// wrote to them before would be lost.
@Suite(.temporaryDirectory) struct RestoringStartTests {
    let scratch = TemporaryDirectory.current

    /// Starts on a thread, since the start may wait, and says when it does.
    private final class Start: Sendable {
        let log = Log()
        let waits = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)

        init(_ scratch: TemporaryDirectory, timeout: Duration? = nil) {
            let options = MigrationManager.Options(lockTimeout: timeout) { [log, waits] event in
                log.add("\(event.kind)")
                if event.kind == .waiting { waits.signal() }
            }
            Thread.detachNewThread { [log, ended] in
                do throws(MigrationError) {
                    let manager = try scratch.manager(upgradingTo: "1.1", options: options)
                    log.add("began at \(manager.lastRunVersion)")
                } catch {
                    log.add("\(error.code)")
                }
                ended.signal()
            }
        }
    }

    private static func lock(_ scratch: TemporaryDirectory) throws -> (FileLock, StateFile) {
        let location = StateLocation(name: "Library", directory: scratch.state.path)
        let lock = try #require(try FileLock.takeIfFree(at: location))
        return (lock, StateFile(location: location))
    }

    @Test func `a start waits while somebody else is about to put files back`() async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        let (lock, _) = try Self.lock(scratch)
        // Another start, which looks whether the closure is running, is not the closure.
        let looking = open(scratch.state.snapshot + "/list", O_RDONLY | O_CLOEXEC)
        try #require(flock(looking, LOCK_SH) == 0)
        defer { close(looking) }
        let start = Start(scratch)
        start.waits.wait()
        #expect(try scratch.read("data") == "old\nchanged\n")
        lock.unlock()
        start.ended.wait()
        #expect(try scratch.read("data") == "old\n")
        #expect(start.log.lines == ["waiting", "restored", "began at 0"])
    }

    @Test func `an older app that puts files back is a downgrade at each start, and lowers no mark`()
        async throws
    {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        for _ in 1...2 {
            let older = try scratch.manager(upgradingTo: "1.0")
            #expect(older.launch == .downgrade(from: version("1.1")))
            #expect(try older.status.launchedVersion == version("1.1"))
            #expect(try scratch.read("data") == "old\n")
        }
    }

    @Test func `it goes on as soon as they are put back, whoever has the lock`() async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        let (lock, file) = try Self.lock(scratch)
        let reporter = Reporter(file.location)
        let locked = try LockedState(lock, reporter: reporter, recovering: false)
        let start = Start(scratch)
        start.waits.wait()
        try locked.recover()
        try locked.save(locked.existing().with { $0.with(lastRun: version("1.0")) })
        start.ended.wait()
        lock.unlock()
        #expect(start.log.lines.last == "began at 1.0" || start.log.lines.last == "began at 0")
        #expect(start.log.lines.count == 2)
        #expect(try scratch.read("data") == "old\n")
    }

    @Test func `it doesn't wait for a closure that is running`() throws {
        try scratch.write("old\n", to: "data")
        try scratch.migrate(protecting: "data") {
            let start = Start(scratch)
            start.ended.wait()
            #expect(start.log.lines == ["began at 1.0"])
        }
    }

    /// The rehearsal's hook steps in when the closure has ended and nothing is put back yet.
    @Test func `it waits for a closure that has thrown`() throws {
        try scratch.write("old\n", to: "data")
        let starts = Log()
        let hook = Rehearsal(returned: {
            let start = Start(scratch, timeout: .zero)
            start.ended.wait()
            for line in start.log.lines { starts.add(line) }
            return Refusal()
        })
        let manager = MigrationManager(rehearsing: try scratch.manager(upgradingTo: "1.1"), with: hook)
        #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
                try scratch.write("half", to: "data")
            }
        }
        #expect(starts.lines == ["waiting", "lockTimeout"])
        #expect(try scratch.read("data") == "old\n")
    }

    /// The handler may go over to the main thread, on which the app is about to make a manager.
    @Test(arguments: ["restored", "failed"], [true, false])
    func `a handler may wait for a start on another thread`(kind: String, canRestore: Bool) throws {
        try scratch.write("old\n", to: "data")
        let starts = Log()
        let options = MigrationManager.Options { event in
            guard event.kind.description == kind else { return }
            let start = Start(scratch)
            start.ended.wait()
            starts.add(start.log.lines.last ?? "")
        }
        let manager = try scratch.manager(upgradingTo: "1.1", options: options)
        #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
                try scratch.write("half", to: "data")
                if !canRestore { try scratch.remove("state/Library.migrations.snapshot/0") }
                throw Refusal()
            }
        }
        if canRestore {
            #expect(starts.lines == ["began at 1.0"])
        } else {
            #expect(starts.lines == (kind == "failed" ? ["protectionFailed"] : []))
        }
    }

    @Test func `only the closure's own lock of the list counts, and it ends once`() throws {
        try scratch.makeFolder("state/Library.migrations.snapshot")
        let folder = scratch.state.snapshot
        #expect(try !Platform.isLocked(folder + "/list"))
        try scratch.write("text", to: folder + "/list")
        let list = open(folder + "/list", O_RDWR | O_CLOEXEC)
        try #require(flock(list, LOCK_EX) == 0)
        #expect(try Platform.isLocked(folder + "/list"))
        close(list)
        let looking = open(folder + "/list", O_RDONLY | O_CLOEXEC)
        defer { close(looking) }
        try #require(flock(looking, LOCK_SH) == 0)
        #expect(try !Platform.isLocked(folder + "/list"))
    }

    @Test func `a time-out says that the files are not to be written to`() async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        let (lock, _) = try Self.lock(scratch)
        defer { lock.unlock() }
        let error = #expect(throws: MigrationError.self) {
            try scratch.manager(upgradingTo: "1.1", options: .init(lockTimeout: .inVain))
        }
        #expect(error?.code == .lockTimeout)
        #expect(error?.version == version("1.1"))
        #expect(
            error?.description.hasSuffix(
                "Nothing was run. The files that migration 1.1 protects are being restored. Don't write to them before a "
                    + "start has succeeded. Wait until that process has finished, and try again with a new manager."
            ) == true
        )
        #expect(try scratch.read("data") == "old\nchanged\n")
    }

    @Test func `a handler of the restore that wants the lock is refused`() async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        let codes = Log()
        let options = MigrationManager.Options { event in
            do throws(MigrationError) {
                try scratch.manager(upgradingTo: "1.1").reset(to: "1.0")
            } catch {
                codes.add("\(event.kind): \(error.code)")
            }
        }
        _ = try scratch.manager(upgradingTo: "1.1", options: options)
        #expect(codes.lines == ["restored: nested"])
        try scratch.write("nobody's", to: "state/Library.migrations.snapshot")
        try scratch.manager(upgradingTo: "1.1", options: options).reset(to: "1.0")
        #expect(codes.lines.dropFirst() == ["leftoverNotRemoved: nested"])
    }
}
