import Foundation
import Testing

@testable import AppMigrations

/// A start that meets protected files of a closure which has ended waits until they are what they were: what the app
/// wrote to them before would be lost.
@Suite struct RestoringStartTests {
    /// Starts on a thread, since the start may wait, and says when it does.
    private final class Start: Sendable {
        let log = Log()
        let waits = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)

        init(_ scratch: Scratch, timeout: Duration? = nil) {
            let options = MigrationManager.Options(lockTimeout: timeout) { [log, waits] event in
                log.add("\(event.kind)")
                if event.kind == .waiting { waits.signal() }
            }
            Thread.detachNewThread { [log, ended] in
                do throws(MigrationError) {
                    let manager = try scratch.manager("1.1", options: options)
                    log.add("began at \(manager.lastRunVersion)")
                } catch {
                    log.add("\(error.code)")
                }
                ended.signal()
            }
        }
    }

    private static func lock(_ scratch: Scratch) throws -> (FileLock, StateFile) {
        let location = StateLocation(name: "Library", directory: scratch.state)
        let lock = try FileLock.waiting(location, version: nil, options: .init()) { .now }
        return (lock, StateFile(location: location))
    }

    @Test func `a start waits while somebody else is about to put files back`() async throws {
        try await Scratch.with { scratch async throws in
            try scratch.write("old\n", to: "data")
            await ProtectedPathTests.die(in: scratch)
            let (lock, _) = try Self.lock(scratch)
            // Another start, which looks whether the closure is running, is not the closure.
            let looking = open(scratch.snapshot, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
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
    }

    @Test func `it goes on as soon as they are put back, whoever has the lock`() async throws {
        try await Scratch.with { scratch async throws in
            try scratch.write("old\n", to: "data")
            await ProtectedPathTests.die(in: scratch)
            let (lock, file) = try Self.lock(scratch)
            let start = Start(scratch)
            start.waits.wait()
            var state = try #require(try file.readState())
            try file.recover(&state, lock, options: .init())
            state.marks.lastRun = version("1.0")
            try file.save(state)
            start.ended.wait()
            lock.unlock()
            #expect(start.log.lines.last == "began at 1.0" || start.log.lines.last == "began at 0")
            #expect(start.log.lines.count == 2)
            #expect(try scratch.read("data") == "old\n")
        }
    }

    @Test func `it doesn't wait for a closure that is running`() throws {
        try Scratch.with { scratch throws in
            try scratch.write("old\n", to: "data")
            try scratch.manager("1.1").whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
                let start = Start(scratch)
                start.ended.wait()
                #expect(start.log.lines == ["began at 1.0"])
            }
        }
    }

    @Test func `it waits for a closure that has thrown`() throws {
        try Scratch.with { scratch throws in
            try scratch.write("old\n", to: "data")
            let starts = Log()
            let options = MigrationManager.Options { event in
                guard event.kind == .restored else { return }
                let start = Start(scratch, timeout: .zero)
                start.ended.wait()
                for line in start.log.lines { starts.add(line) }
            }
            let manager = try scratch.manager("1.1", options: options)
            #expect(throws: MigrationError.self) {
                try manager.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
                    try scratch.write("half", to: "data")
                    throw Refusal()
                }
            }
            #expect(starts.lines == ["waiting", "lockTimeout"])
            #expect(try scratch.read("data") == "old\n")
        }
    }

    @Test func `a time-out says that the files are not to be written to`() async throws {
        try await Scratch.with { scratch async throws in
            try scratch.write("old\n", to: "data")
            await ProtectedPathTests.die(in: scratch)
            let (lock, _) = try Self.lock(scratch)
            defer { lock.unlock() }
            let error = #expect(throws: MigrationError.self) {
                try scratch.manager("1.1", options: .init(lockTimeout: .milliseconds(3)))
            }
            #expect(error?.code == .lockTimeout)
            #expect(error?.version == version("1.1"))
            #expect(
                error?.description.hasSuffix(
                    "start again. Don't write to the files that migration 1.1 protects before: they are being put back."
                ) == true
            )
            #expect(try scratch.read("data") == "old\nchanged\n")
        }
    }

    @Test func `a handler of the restore that wants the lock is refused`() async throws {
        try await Scratch.with { scratch async throws in
            try scratch.write("old\n", to: "data")
            await ProtectedPathTests.die(in: scratch)
            let codes = Log()
            let options = MigrationManager.Options { event in
                do throws(MigrationError) {
                    try scratch.manager("1.1").reset(to: "1.0")
                } catch {
                    codes.add("\(event.kind): \(error.code)")
                }
            }
            _ = try scratch.manager("1.1", options: options)
            #expect(codes.lines == ["restored: nested"])
            try scratch.write("nobody's", to: "state/Library.migrations.snapshot")
            try scratch.manager("1.1", options: options).reset(to: "1.0")
            #expect(codes.lines.dropFirst() == ["leftoverNotRemoved: nested"])
        }
    }
}
