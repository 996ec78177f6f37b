import AppMigrations
import Foundation
import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

#if canImport(Glibc)
import Glibc
#endif

/// The calls that wait for others to be done with a store, in a task that is cancelled.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct StoreWaitTests {
    /// What waits, with the time for which it does.
    private static let calls: [String: @Sendable (SQLiteStore, Duration) throws -> Void] = [
        "migrateStaged": { store, wait in
            try store.migrateStaged(lockTimeout: wait) { _ in Issue.record("run") }
        },
        "setAside": { store, wait in try store.setAside(lockTimeout: wait) },
        "open": { store, wait in
            try store.open(busyTimeout: wait) { _ in Issue.record("set aside") }.close()
        },
    ]

    @Test(arguments: calls.keys.sorted())
    func `a task that is cancelled waits no longer for another process's lock`(call: String) async throws {
        let store = try Wreck.store()
        let files = try StoreFiles(of: store.path)
        let lock = try Platform.openLock(files.lock)
        defer { Platform.unlock(lock) }
        try #require(try Platform.tryLock(lock))
        let tries = try Openings(of: files.lock)
        let run = try #require(Self.calls[call])
        let waiting = Task { try sqlError { try run(store, .seconds(20)) } }
        Thread.detachNewThread {
            // At its second try it is in the midst of the wait.
            tries.wait(for: 2)
            waiting.cancel()
        }
        // The lock is held for longer than that.
        #expect(try await waiting.value.code == .cancelled)
    }

    @Test(arguments: calls.keys.sorted())
    func `a task that is cancelled waits no longer for another connection's lock`(call: String) async throws {
        let store = try Wreck.store()
        let other = try SQLiteConnection(path: store.path)
        try other.query("BEGIN EXCLUSIVE")
        let run = try #require(Self.calls[call])
        let begun = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let waiting = Task {
            begun.signal()
            defer { ended.signal() }
            return try sqlError { try run(store, .seconds(3_600)) }
        }
        waiting.cancel()
        // The lock is given back once the call has ended, or long after it should have.
        let hasWaited = Guarded(false)
        Thread.detachNewThread {
            begun.wait()
            if ended.wait(timeout: .now() + 20) == .timedOut { hasWaited.withLock { $0 = true } }
            other.close()
        }
        #expect(try await waiting.value.code == .cancelled)
        #expect(!hasWaited.withLock { $0 })
    }
}

/// The times that a file is opened, by anybody.
private final class Openings: Sendable {
    #if canImport(Glibc)
    private let events: Int32

    init(of path: String) throws {
        events = inotify_init1(CInt(O_CLOEXEC))
        try #require(inotify_add_watch(events, path, UInt32(IN_OPEN)) >= 0)
    }

    deinit { close(events) }

    func wait(for count: Int) {
        for _ in 0..<count {
            // One event of a file that is watched by itself has no name.
            var event = inotify_event()
            guard read(events, &event, MemoryLayout<inotify_event>.size) > 0 else { return }
        }
    }
    #else
    init(of path: String) throws {}

    func wait(for count: Int) {}
    #endif
}
