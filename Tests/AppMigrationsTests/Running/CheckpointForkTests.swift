import Foundation
import Testing

@testable import AppMigrations

/// A child made by `fork` has a copy of a checkpoint that another thread is saving, and not that thread.
@Suite struct CheckpointForkTests {
    @Test func `a child comes back from the closure while another thread saves`() async throws {
        try await withTemporaryDirectory { scratch async throws in
            await #expect(processExitsWith: .success) { [path = scratch.path as String] in
                let saving = DispatchSemaphore(value: 0)
                let goOn = DispatchSemaphore(value: 0)
                let hook = RehearsalHook(
                    declared: { _ in .continue },
                    reached: { moment in
                        guard moment.place == .beforeCheckpoint else { return }
                        saving.signal()
                        goOn.wait()
                    },
                    returned: { _ in nil }
                )
                let manager = MigrationManager(rehearsing: try ForkTests.manager(path), with: hook)
                let parent = getpid()
                do throws(MigrationError) {
                    try manager.whenMigrating(toVersion: "1.1") { context throws in
                        let ended = DispatchSemaphore(value: 0)
                        Thread.detachNewThread {
                            do { try context.saveCheckpoint(1) } catch { Issue.record(error) }
                            ended.signal()
                        }
                        saving.wait()
                        let child = forkProcess()
                        if child == 0 {
                            // The real clock, since a child that hangs would keep this test waiting for ever. The library of tasks blocks
                            // its threads' signals.
                            var none = sigset_t()
                            sigemptyset(&none)
                            pthread_sigmask(SIG_SETMASK, &none, nil)
                            alarm(600)
                            return
                        }
                        try append("\(wait(for: child))", to: path + "/status")
                        goOn.signal()
                        ended.wait()
                    }
                } catch {
                    _exit(getpid() != parent ? 7 : 8)
                }
                if getpid() != parent { _exit(9) }
            }
            #expect(try scratch.read("status") == "7\n")
            #expect(try ForkTests.manager(scratch.path).history.map(\.version.description) == ["1.1"])
        }
    }
}
