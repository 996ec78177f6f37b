import AppMigrations
import Foundation
package import Testing

/// Ends the process if a test doesn't end, and says which one.
///
/// A time limit of Swift Testing cancels the test's task, and that doesn't wake a thread which waits in a system call or for a
/// semaphore. Without this trait such a test holds the whole run up, and nobody learns its name. ``TemporaryDirectoryTrait``
/// watches its tests too, because whatever takes a lock or starts a process has its files there.
package struct WatchdogTrait: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Watchdog.watch(test, function)
    }
}

extension Trait where Self == WatchdogTrait {
    package static var watchdog: Self { Self() }
}

enum Watchdog {
    private struct Watched {
        var running: [UUID: String] = [:]
        /// How long no watched test has begun or ended: tests that run side by side keep each other from their processor.
        var seconds = 0
    }

    /// After the minute of `.timeLimit`, which lets the other tests go on.
    private static let limit = 70

    private static let watched = Guarded(Watched())

    /// Counts seconds in which this process runs, so a debugger that stops it ends nothing.
    private static let thread: Void = Thread.detachNewThread {
        while true {
            sleep(1)
            let hanging: [String] = watched.withLock { watched in
                watched.seconds += 1
                return watched.seconds < limit ? [] : watched.running.values.sorted()
            }
            if !hanging.isEmpty { end(because: hanging) }
        }
    }

    static func watch(_ test: Test, _ body: () async throws -> Void) async throws {
        thread
        let id = UUID()
        watched.withLock { watched in
            watched.running[id] = "\(test.displayName ?? test.name) (\(test.sourceLocation))"
            watched.seconds = 0
        }
        defer {
            watched.withLock { watched in
                watched.running[id] = nil
                watched.seconds = 0
            }
        }
        try await body()
    }

    private static func end(because hanging: [String]) {
        let text = hanging.map { "✘ Test \"\($0)\" hangs: it has not ended for \(limit) seconds.\n" }.joined()
        FileHandle.standardError.write(Data(text.utf8))
        // Not `exit`, whose handlers may wait for the thread that hangs.
        _exit(1)
    }
}
